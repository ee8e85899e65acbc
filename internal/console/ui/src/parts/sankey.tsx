import type { ReactNode } from 'react';
import { useState } from 'react';
import type { Traffic } from '../api/client';

export type Node = Traffic['nodes'][number];
export type Flow = Traffic['links'][number];

interface Props {
  of: Traffic;
  label: string;
  /** open makes of a node what leads on from it. */
  open: (n: Node, inner: ReactNode, props: NodeProps) => ReactNode;
}

/** NodeProps are those of an element that is a node. */
export interface NodeProps {
  className: string;
  'aria-label': string;
  onMouseEnter: () => void;
  onMouseLeave: () => void;
  onFocus: () => void;
  onBlur: () => void;
}

interface Placed extends Node {
  x: number;
  y: number;
  height: number;
  slot: number; // middle of the room that it has
}

const width = 1080;
const bar = 11;
const head = 30; // for the columns' titles
const least = 34; // room of a node, for two lines
const kinds = ['caller', 'agent', 'extension'] as const;
const columns = { caller: 215, agent: 520, extension: 840 };
const titles = { caller: 'Callers', agent: 'Agents', extension: 'Extensions' };

export function nameOf(n: Node): string {
  if (n.rest) return `${n.rest.toLocaleString('en')} more`;
  if (n.name) return n.name;
  return { caller: 'unknown caller', agent: 'no agent', extension: 'no extension' }[n.kind as (typeof kinds)[number]];
}

/** short cuts a name where it tells least: the beginning of a URI, the middle of others. */
export function short(name: string, most: number): string {
  if (name.length <= most) return name;
  if (name.includes('://')) return `…${name.slice(1 - most)}`;
  const half = Math.floor((most - 1) / 2);
  return `${name.slice(0, most - 1 - half)}…${name.slice(-half)}`;
}

const plural = (n: number, what: string) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;

function words(n: { calls: number; denied: number; failed: number }): string {
  return [plural(n.calls, 'call'), n.denied > 0 && `${n.denied.toLocaleString('en')} denied`, n.failed > 0 && `${n.failed.toLocaleString('en')} failed`].filter(Boolean).join(', ');
}

/** place puts nodes into columns, as high as they have calls. A column is never less high than names take. */
function place(of: Traffic): { nodes: Map<string, Placed>; scale: number; height: number } {
  const lists = kinds.map((k) => of.nodes.filter((n) => n.kind === k));
  const sums = lists.map((l) => l.reduce((sum, n) => sum + n.calls, 0));
  const scale = 240 / Math.max(1, ...sums);
  const heights = lists.map((l) => l.reduce((sum, n) => sum + Math.max(least, n.calls * scale + 12), 0));
  const height = Math.max(200, ...heights);
  const nodes = new Map<string, Placed>();
  lists.forEach((list, i) => {
    const kind = kinds[i] as (typeof kinds)[number];
    const spare = list.length ? (height - (heights[i] ?? 0)) / list.length : 0;
    let top = head;
    for (const n of list) {
      const room = Math.max(least, n.calls * scale + 12) + spare;
      const high = Math.max(3, n.calls * scale);
      nodes.set(n.id, { ...n, x: columns[kind], y: top + (room - high) / 2, height: high, slot: top + room / 2 });
      top += room;
    }
  });
  return { nodes, scale, height: height + head };
}

interface Ribbon {
  key: string;
  tone: 'good' | 'bad' | 'warn';
  d: string;
  width: number;
  flow: Flow;
}

/** ribbons lie beside each other at either end, in the order of what they lead to. */
function ribbons(of: Traffic, nodes: Map<string, Placed>, scale: number): Ribbon[] {
  const used = new Map<string, number>();
  const take = (end: string, w: number) => {
    const at = used.get(end) ?? 0;
    used.set(end, at + w);
    return at + w / 2;
  };
  const flows = of.links
    .map((flow) => ({ flow, from: nodes.get(flow.from), to: nodes.get(flow.to) }))
    .filter((l): l is { flow: Flow; from: Placed; to: Placed } => l.from !== undefined && l.to !== undefined)
    .sort((a, b) => a.from.y - b.from.y || a.to.y - b.to.y);
  return flows.flatMap(({ flow, from, to }) => {
    const parts = [
      ['good', flow.calls - flow.denied - flow.failed],
      ['bad', flow.denied],
      ['warn', flow.failed],
    ] as const;
    // Of a call with several extensions each has a ribbon: together they may be wider than the agent.
    const [x0, x1] = [from.x + bar, to.x];
    const out = of.links.reduce((sum, l) => (l.from === flow.from ? sum + l.calls : sum), 0);
    const thin = Math.min(1, from.calls / Math.max(1, out));
    return parts
      .filter(([, n]) => n > 0)
      .map(([tone, n]) => {
        const y0 = from.y + take(`${flow.from}>`, n * scale * thin);
        const y1 = to.y + take(`>${flow.to}`, n * scale);
        const middle = (x0 + x1) / 2;
        return { key: `${flow.from} ${flow.to} ${tone}`, tone, flow, width: Math.max(1.2, n * scale * thin), d: `M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}` };
      });
  });
}

/** Sankey draws who had to do with whom: columns of nodes, and ribbons as wide as there were calls. */
export function Sankey({ of, label, open }: Props) {
  const [near, set] = useState('');
  const { nodes, scale, height } = place(of);
  const all = ribbons(of, nodes, scale);
  const touches = (f: Flow) => f.from === near || f.to === near;
  return (
    <svg className="drawing" viewBox={`0 0 ${width} ${height}`} role="group" aria-label={label}>
      {kinds.map((k) => (
        <text key={k} className="title" x={k === 'caller' ? columns[k] + bar : columns[k]} y={14} textAnchor={k === 'caller' ? 'end' : 'start'}>
          {titles[k]}
        </text>
      ))}
      <g aria-hidden className={near === '' ? undefined : 'aside'}>
        {all.filter((r) => !touches(r.flow)).map((r) => (
          <path key={r.key} className={`flow ${r.tone}`} d={r.d} strokeWidth={r.width} />
        ))}
      </g>
      <g aria-hidden>
        {all.filter((r) => touches(r.flow)).map((r) => (
          <path key={r.key} className={`flow ${r.tone}`} d={r.d} strokeWidth={r.width} />
        ))}
      </g>
      {[...nodes.values()].map((n) => {
        const left = n.kind === 'caller';
        const [x, anchor] = left ? [n.x - 8, 'end' as const] : [n.x + bar + 8, 'start' as const];
        const inner = (
          <>
            <title>{`${nameOf(n)}: ${words(n)}`}</title>
            <rect x={n.x} y={n.y} width={bar} height={n.height} rx={2} />
            <text x={x} y={n.slot - 2} textAnchor={anchor}>
              {short(nameOf(n), 25)}
            </text>
            <text x={x} y={n.slot + 13} textAnchor={anchor} className="count">
              {words(n)}
            </text>
          </>
        );
        const tone = n.rest || n.name === '' ? ' rest' : n.denied === n.calls ? ' bad' : n.failed === n.calls ? ' warn' : '';
        const leave = () => set((now) => (now === n.id ? '' : now));
        return open(n, inner, {
          className: `node${tone}`,
          'aria-label': `${n.rest ? `${n.rest} more ${n.kind}s` : n.name ? `${n.kind} ${n.name}` : nameOf(n)}: ${words(n)}`,
          onMouseEnter: () => set(n.id),
          onMouseLeave: leave,
          onFocus: () => set(n.id),
          onBlur: leave,
        });
      })}
    </svg>
  );
}
