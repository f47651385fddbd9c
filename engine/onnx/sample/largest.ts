/**
 * Indices of the `count` largest values, largest first; equal ones in index order. One pass with a heap of
 * `count`, so that ten of 150,000 cost little more than reading them.
 */
export function largest(values: Float32Array, count: number): number[] {
  const size = Math.min(count, values.length);
  if (size === 0) return [];
  const heap: number[] = [];
  const worse = (a: number, b: number): boolean => {
    const difference = (values[a] ?? 0) - (values[b] ?? 0);
    return difference < 0 || (difference === 0 && a > b);
  };
  let index = 0;
  for (; index < size; index++) {
    heap.push(index);
    siftUp(heap, worse);
  }
  let floor = values[heap[0] ?? 0] ?? 0;
  for (; index < values.length; index++) {
    if ((values[index] as number) <= floor) continue;
    heap[0] = index;
    siftDown(heap, worse);
    floor = values[heap[0] ?? 0] ?? 0;
  }
  return heap.sort((a, b) => (worse(a, b) ? 1 : -1));
}

type Worse = (a: number, b: number) => boolean;

function siftUp(heap: number[], worse: Worse): void {
  let child = heap.length - 1;
  while (child > 0) {
    const parent = (child - 1) >> 1;
    if (!swapIfWorse(heap, child, parent, worse)) return;
    child = parent;
  }
}

function siftDown(heap: number[], worse: Worse): void {
  let parent = 0;
  for (;;) {
    const left = 2 * parent + 1;
    if (left >= heap.length) return;
    const right = left + 1;
    const child = right < heap.length && worse(heap[right] ?? 0, heap[left] ?? 0) ? right : left;
    if (!swapIfWorse(heap, child, parent, worse)) return;
    parent = child;
  }
}

/** The root is the worst kept: a child worse than its parent moves up. */
function swapIfWorse(heap: number[], child: number, parent: number, worse: Worse): boolean {
  const low = heap[child] ?? 0;
  const high = heap[parent] ?? 0;
  if (!worse(low, high)) return false;
  heap[child] = high;
  heap[parent] = low;
  return true;
}
