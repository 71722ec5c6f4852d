interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

interface Group {
  objects: number;
  bytes: number;
}

/** The biggest growth first. The rest is noise of a few kilobytes. */
const SHOWN = 25;

/** Sums a V8 heap snapshot by constructor, or by type for what has none. */
function group(text: string): Map<string, Group> {
  const { snapshot, nodes, strings } = JSON.parse(text) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const at = (name: string) => fields.indexOf(name);
  const [type, name, size] = [at('type'), at('name'), at('self_size')];
  const groups = new Map<string, Group>();
  for (let node = 0; node < nodes.length; node += fields.length) {
    const kind = types[0][nodes[node + type] ?? 0] ?? '';
    const isNamed = kind === 'object' || kind === 'closure' || kind === 'native';
    const label = isNamed ? `${kind} ${strings[nodes[node + name] ?? 0]}` : `(${kind})`;
    const sum = groups.get(label) ?? { objects: 0, bytes: 0 };
    sum.objects++;
    sum.bytes += nodes[node + size] ?? 0;
    groups.set(label, sum);
  }
  return groups;
}

const bytesOf = (groups: ReadonlyMap<string, Group>) =>
  [...groups.values()].reduce((sum, { bytes }) => sum + bytes, 0);

/** Compares two heap snapshots (their JSON) by constructor. */
export function compareSnapshots(earlier: string, later: string) {
  const [before, after] = [group(earlier), group(later)];
  const constructors = [...after]
    .map(([name, { objects, bytes }]) => ({
      name: name.slice(0, 60),
      objects: objects - (before.get(name)?.objects ?? 0),
      bytes: bytes - (before.get(name)?.bytes ?? 0),
    }))
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, SHOWN);
  return { before: bytesOf(before), after: bytesOf(after), constructors };
}
