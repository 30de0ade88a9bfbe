// Runs before anything else is parsed, so it keeps to syntax that old versions of Node read.
var wanted = [20, 20];
var found = process.versions.node.split(".").map(Number);

if (found[0] < wanted[0] || (found[0] === wanted[0] && found[1] < wanted[1])) {
  console.error(`shoal: needs Node ${wanted.join(".")} or later, this is ${process.versions.node}`);
  process.exit(1);
}
