/** The first place below `length` that is reached, where all behind it are; `length` when there is none. */
export function firstPlace(length: number, isReached: (place: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
