// Links a row to those near it: the insertion of Malkov and Yashunin (arXiv 1603.09320, algorithms 1, 2 and 4).
#include <memory>
#include <new>

#include "graph.h"
#include "nearest-pool.h"

namespace shoal {
namespace {

bool isSame(const LinkList& list, const std::vector<uint32_t>& links) {
  for (size_t place = 0; place < links.size(); place++)
    if (list.at(place) != links[place]) return false;
  return list.at(links.size()) == NO_LINK;
}

}  // namespace

/** One thread's linking of one row at a time; what it allocates it keeps for the next one. */
class Graph::Linker {
 public:
  /** Null when there is no memory. */
  static Linker* ofThread(const Graph& graph);

  void link(Graph& graph, const Rows& rows, uint32_t row);

 private:
  bool reserve(const Graph& graph);
  void search(const Graph& graph, RowDistances& distances, uint32_t row, uint32_t start, size_t layer);
  void linkBack(Graph& graph, RowDistances& distances, uint32_t row, const Candidate& to, size_t layer);
  size_t prune(RowDistances& distances, uint32_t row, const Candidate& to, size_t count, size_t most);

  bool visit(uint32_t row) {
    uint64_t& word = visited_[row >> 6];
    const uint64_t bit = uint64_t{1} << (row & 63);
    if ((word & bit) != 0) return false;
    word |= bit;
    touched_[touchedCount_++] = row;
    return true;
  }
  void forgetVisits() {
    for (size_t i = 0; i < touchedCount_; i++) visited_[touched_[i] >> 6] = 0;
    touchedCount_ = 0;
  }

  std::vector<uint64_t> visited_;
  /** Has room for all rows, each of which is visited once; what is never written to costs no memory. */
  std::unique_ptr<uint32_t[]> touched_;
  size_t touchedCount_ = 0;
  size_t rowsMax_ = 0;
  NearestPool pool_;
  /** What it holds in the end. */
  std::vector<Candidate> nearest_;
  /** For pruning the links of another node, and what these are. */
  std::vector<Candidate> crowd_;
  std::vector<uint32_t> links_;
  /** The links of the row in each of its layers, one layer behind the other. */
  std::vector<Candidate> chosen_;
};

Graph::Linker* Graph::Linker::ofThread(const Graph& graph) {
  static thread_local Linker linker;
  return linker.reserve(graph) ? &linker : nullptr;
}

bool Graph::Linker::reserve(const Graph& graph) {
  try {
    if (rowsMax_ < graph.capacity()) {
      visited_.resize(graph.capacity() / 64 + 1);
      touched_.reset(new uint32_t[graph.capacity()]);
      rowsMax_ = graph.capacity();
    }
    if (crowd_.size() < graph.connectivityBase_ + 1) crowd_.resize(graph.connectivityBase_ + 1);
    links_.reserve(graph.connectivityBase_);
    chosen_.reserve((GraphNodes::LEVEL_MAX + 1) * graph.connectivity_);
    pool_.reserve(graph.efConstruction_);
    if (nearest_.size() < graph.efConstruction_) nearest_.resize(graph.efConstruction_);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

/** Leaves in the pool the nearest that are found in a layer. */
void Graph::Linker::search(const Graph& graph, RowDistances& distances, uint32_t row, uint32_t start, size_t layer) {
  pool_.clear(graph.efConstruction_);
  Candidate batch[DISTANCES_AT_ONCE];
  batch[0].row = start;
  distances.measureFromRow(row, batch, 1);
  pool_.insert(batch[0]);
  visit(start);
  for (uint32_t next = pool_.peek(); next != NO_LINK; next = pool_.peek()) {
    pool_.open();
    const LinkList links = graph.nodes_.links(next, layer);
    // Most likely the next one: its links come while these are worked on.
    const uint32_t later = pool_.peek();
    if (later != NO_LINK) graph.nodes_.links(later, layer).prefetch();
    auto at = links.begin();
    const auto end = links.end();
    while (at != end) {
      size_t count = 0;
      for (; at != end && count < DISTANCES_AT_ONCE; ++at) {
        if (!visit(*at)) continue;
        distances.prefetch(*at);
        batch[count++].row = *at;
      }
      distances.measureFromRow(row, batch, count);
      for (size_t i = 0; i < count; i++)
        if (pool_.accepts(batch[i].distance)) pool_.insert(batch[i]);
    }
  }
  forgetVisits();
}

void Graph::Linker::linkBack(Graph& graph, RowDistances& distances, uint32_t row, const Candidate& to, size_t layer) {
  GraphNodes& nodes = graph.nodes_;
  LinkList list = nodes.links(to.row, layer);
  // Who may read a file holds no lock meanwhile: others would wait for the disk. What has changed by then is looked at again.
  const bool mayRead = distances.mayRead();
  nodes.lock(to.row);
  for (;;) {
    const size_t size = list.size();
    if (size < list.most()) {
      list.append(size, row);
      break;
    }
    Candidate* crowd = crowd_.data();
    links_.clear();
    for (const uint32_t link : list) {
      distances.prefetch(link);
      crowd[links_.size()].row = link;
      links_.push_back(link);
    }
    if (mayRead) nodes.unlock(to.row);
    const size_t picked = prune(distances, row, to, size, list.most());
    if (mayRead) {
      nodes.lock(to.row);
      if (!isSame(list, links_)) continue;
    }
    list.replace(size, picked, [crowd](size_t i) { return crowd[i].row; });
    break;
  }
  nodes.unlock(to.row);
}

/** Of `count` links of a node in the crowd, and a new one: puts in front those that stay, and returns how many. */
size_t Graph::Linker::prune(RowDistances& distances, uint32_t row, const Candidate& to, size_t count, size_t most) {
  Candidate* crowd = crowd_.data();
  for (size_t first = 0; first < count; first += DISTANCES_AT_ONCE)
    distances.measureFromRow(to.row, crowd + first, std::min(DISTANCES_AT_ONCE, count - first));
  crowd[count++] = {to.distance, row};
  std::sort(crowd, crowd + count, Nearer());
  return distances.pickDiverse(crowd, count, most);
}

void Graph::Linker::link(Graph& graph, const Rows& rows, uint32_t row) {
  const int level = static_cast<int>(graph.nodes_.level(row));
  uint32_t entry;
  int top;
  bool rises;
  {
    const MutexLock lock(graph.entryMutex_);
    entry = graph.entry_;
    top = graph.entryLevel_;
    // One at a time makes new highest layers. Another one that could is linked in those that there are: nobody waits.
    rises = level > top && !graph.rising_;
    graph.rising_ = graph.rising_ || rises;
    if (top < 0) return graph.enterAt(row, level);
  }
  RowDistances distances(rows, graph.nearDistances_);
  size_t computed = 0;
  uint32_t nearest = graph.descend(distances, distances.pointOf(row), entry, top, level, computed).row;
  size_t counts[GraphNodes::LEVEL_MAX + 1];
  chosen_.clear();
  const int highest = std::min(level, top);
  for (int layer = highest; layer >= 0; layer--) {
    search(graph, distances, row, nearest, static_cast<size_t>(layer));
    Candidate* links = nearest_.data();
    size_t picked = pool_.count();
    for (size_t place = 0; place < picked; place++) nearest_[place] = pool_.at(place);
    // Fewer than there is room for are kept as they are.
    if (picked >= graph.connectivity_) picked = distances.pickDiverse(links, picked, graph.connectivity_);
    LinkList list = graph.nodes_.links(row, static_cast<size_t>(layer));
    list.replace(0, picked, [links](size_t i) { return links[i].row; });
    chosen_.insert(chosen_.end(), links, links + picked);
    counts[layer] = picked;
    nearest = links[0].row;
  }
  // Only now, when the row has its links in all layers, it gets links to it: who comes to it can always go on.
  const Candidate* to = chosen_.data();
  for (int layer = highest; layer >= 0; layer--)
    for (const Candidate* end = to + counts[layer]; to != end; to++)
      linkBack(graph, distances, row, *to, static_cast<size_t>(layer));
  if (!rises) return;
  const MutexLock lock(graph.entryMutex_);
  graph.enterAt(row, level);
}

bool Graph::link(const Rows& rows) {
  Linker* linker = Linker::ofThread(*this);
  if (linker == nullptr) return false;
  const size_t row = size_.fetch_add(1, std::memory_order_relaxed);
  if (row >= capacity()) {
    size_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  // What died meanwhile is not linked any more. Its row stays until a rebuild, as all rows do.
  if (rows.alive(row)) linker->link(*this, rows, static_cast<uint32_t>(row));
  else nodes_.leave(static_cast<uint32_t>(row));
  return true;
}

}  // namespace shoal
