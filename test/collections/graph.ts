// Directed graphs whose edges have a kind, and a search for a cycle in them.

export interface Edge {
  readonly kind: 'ww' | 'wr' | 'rw' | 'rt';
  readonly to: number;
  /** Taken together with this one before it. */
  readonly behind?: Edge;
}

export class Graph {
  readonly edges: Edge[][];

  constructor(nodes: number) {
    this.edges = Array.from({ length: nodes }, () => []);
  }

  addNode(): number {
    return this.edges.push([]) - 1;
  }

  add(from: number, edge: Edge): void {
    const edges = this.from(from);
    if (!edges.some(({ kind, to }) => kind === edge.kind && to === edge.to)) edges.push(edge);
  }

  from(node: number): Edge[] {
    return this.edges[node] ?? [];
  }

  only(...kinds: Edge['kind'][]): Graph {
    return this.#mapped((edges) => edges.filter(({ kind }) => kinds.includes(kind)));
  }

  /**
   * Its cycles are those of this graph in which no two edges of this kind follow each other: such an edge is taken
   * together with the one before it.
   */
  withoutNeighbours(kind: Edge['kind']): Graph {
    return this.#mapped((edges) =>
      edges
        .filter((edge) => edge.kind !== kind)
        .flatMap((edge) => [
          edge,
          ...this.from(edge.to).flatMap((next) => (next.kind === kind ? [{ ...next, behind: edge }] : [])),
        ]),
    );
  }

  #mapped(map: (edges: readonly Edge[]) => Edge[]): Graph {
    const graph = new Graph(0);
    for (const edges of this.edges) graph.edges.push(map(edges));
    return graph;
  }
}

/** The edges of a cycle, a short one where there are several; nothing if there is none. */
export function findCycle(graph: Graph): Edge[] | undefined {
  const on = components(graph);
  const found: Edge[][] = [];
  for (let node = 0; node < graph.edges.length && found.length < enough; node++) {
    if (!graph.from(node).some(({ to }) => on[to] === on[node])) continue;
    const cycle = shortestCycle(graph, node, on);
    if (cycle !== undefined) found.push(cycle);
  }
  return found.sort((a, b) => a.length - b.length)[0];
}

const enough = 100;

/** Back to where it began, within its strongly connected component, by breadth. */
function shortestCycle(graph: Graph, start: number, on: readonly number[]): Edge[] | undefined {
  const came = new Map<number, { edge: Edge; before: number }>();
  let front = [start];
  while (front.length > 0) {
    const next: number[] = [];
    for (const node of front) {
      for (const edge of graph.from(node)) {
        if (on[edge.to] !== on[start] || came.has(edge.to)) continue;
        came.set(edge.to, { edge, before: node });
        if (edge.to === start) return pathTo(start, came);
        next.push(edge.to);
      }
    }
    front = next;
  }
  return undefined;
}

function pathTo(start: number, came: ReadonlyMap<number, { edge: Edge; before: number }>): Edge[] {
  const path: Edge[] = [];
  let node = start;
  do {
    const step = came.get(node);
    if (step === undefined) break;
    path.unshift(step.edge);
    node = step.before;
  } while (node !== start);
  return path;
}

/** Which strongly connected component each node is in (Tarjan, without recursion: a history is long). */
export function components(graph: Graph): number[] {
  const count = graph.edges.length;
  const component = new Array<number>(count).fill(-1);
  const index = new Array<number>(count).fill(-1);
  const low = new Array<number>(count).fill(0);
  const stack: number[] = [];
  let visited = 0;
  for (let root = 0; root < count; root++) {
    if (index[root] !== -1) continue;
    const path = [{ node: root, next: 0 }];
    index[root] = low[root] = visited++;
    stack.push(root);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { node } = top;
      const edge = graph.from(node)[top.next++];
      if (edge === undefined) {
        path.pop();
        const parent = path.at(-1)?.node;
        if (parent !== undefined) low[parent] = Math.min(low[parent] as number, low[node] as number);
        if (low[node] === index[node]) close(node, stack, component);
      } else if (index[edge.to] === -1) {
        index[edge.to] = low[edge.to] = visited++;
        stack.push(edge.to);
        path.push({ node: edge.to, next: 0 });
      } else if (component[edge.to] === -1) {
        low[node] = Math.min(low[node] as number, index[edge.to] as number);
      }
    }
  }
  return component;
}

function close(node: number, stack: number[], component: number[]): void {
  for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
    component[member] = node;
    if (member === node) return;
  }
}
