import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp, ChevronDown, ChevronRight } from 'lucide-react';
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useNarrow } from './narrow';

export interface Column<T> {
  id: string;
  title: string;
  width: string; // of CSS grid
  cell: (row: T) => ReactNode;
  sort?: (row: T) => string | number;
  end?: boolean; // it holds numbers
}

interface Props<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  name: (row: T) => string;
  initial?: string;
  height?: number;
  least?: number; // how wide it is at least, in pixels
  wraps?: boolean; // rows are as high as their texts need
  details?: (row: T) => ReactNode; // what a row shows below itself when it is expanded
}

const rowHeight = 34;
const lineHeight = 21; // of a cell where rows are lists

/** title gives what is cut of a cell to whoever points at it. */
function title(cell: Element) {
  const cut = [cell, ...cell.querySelectorAll('.cut')].some((e) => e.scrollWidth > e.clientWidth + 1);
  if (!cut) cell.removeAttribute('title');
  else if (!cell.querySelector('[title]')) cell.setAttribute('title', cell.textContent);
}

/**
 * Table shows as many rows as are seen, however many there are. On a phone each row is a list of its
 * cells with their headings, as high as it needs to be.
 */
export function Table<T>({ label, rows, columns, name, initial, height, least, wraps, details }: Props<T>) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) => setOpen(new Set(open.has(id) ? [...open].filter((o) => o !== id) : [...open, id]));
  const [order, setOrder] = useState({ by: initial ?? '', down: false });
  const sorted = useMemo(() => {
    const of = columns.find((c) => c.id === order.by)?.sort;
    if (!of) return rows;
    const compare = (a: T, b: T) => {
      const [x, y] = [of(a), of(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (order.down ? -1 : 1);
    };
    return [...rows].sort(compare);
  }, [rows, columns, order]);
  const box = useRef<HTMLDivElement>(null);
  const narrow = useNarrow();
  const seen = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => box.current,
    estimateSize: () => (narrow ? columns.length * lineHeight + 16 : rowHeight),
    overscan: 12,
    getItemKey: (i) => name(sorted[i] as T),
  });
  useLayoutEffect(() => {
    for (const cell of box.current?.querySelectorAll('[role=cell]') ?? []) title(cell);
  });
  useLayoutEffect(() => seen.measure(), [narrow, seen]);
  const free = narrow || wraps || details !== undefined; // rows have heights of their own
  const grid = narrow ? undefined : [...(details ? ['22px'] : []), ...columns.map((c) => c.width)].join(' ');
  return (
    <div className="table" role="table" aria-label={label} aria-rowcount={rows.length + 1}>
      <div role="rowgroup">
        <div className="tr th" role="row" aria-rowindex={1} style={{ gridTemplateColumns: grid, minWidth: narrow ? undefined : least }}>
          {details && (
            <div role="columnheader">
              <span className="unseen">Details</span>
            </div>
          )}
          {columns.map((c) => {
            const mine = order.by === c.id;
            return (
              <div
                key={c.id}
                role="columnheader"
                className={c.end ? 'end' : undefined}
                {...(c.sort ? { 'aria-sort': mine ? (order.down ? 'descending' : 'ascending') : 'none' } : {})}
              >
                {c.sort ? (
                  <button type="button" className="sort" onClick={() => setOrder({ by: c.id, down: mine && !order.down })}>
                    {c.title}
                    {mine && (order.down ? <ArrowDown size={12} aria-hidden /> : <ArrowUp size={12} aria-hidden />)}
                  </button>
                ) : (
                  c.title || <span className="unseen">Actions</span>
                )}
              </div>
            );
          })}
        </div>
      </div>
      <div
        ref={box}
        className="tbody"
        role="rowgroup"
        tabIndex={0}
        aria-label={`${label}, rows`}
        style={{ height: Math.min(height ?? 620, free ? Math.max(rowHeight, seen.getTotalSize()) + 2 : Math.max(1, rows.length) * rowHeight + 2), minWidth: narrow ? undefined : least }}
      >
        <div role="presentation" style={{ height: seen.getTotalSize(), position: 'relative' }}>
          {seen.getVirtualItems().map((item) => {
            const row = sorted[item.index] as T;
            return (
              <div
                key={item.key}
                ref={free ? seen.measureElement : undefined}
                data-index={item.index}
                className={wraps ? 'tr wraps' : 'tr'}
                role="row"
                aria-rowindex={item.index + 2}
                style={{ gridTemplateColumns: grid, position: 'absolute', top: 0, transform: `translateY(${item.start}px)`, height: free ? undefined : rowHeight, minHeight: free && !narrow ? rowHeight : undefined }}
              >
                {details && (
                  <div role="cell" data-label="Details" className="toggle">
                    <button type="button" className="plainly" aria-expanded={open.has(String(item.key))} aria-label={`Details of row ${item.index + 1}`} onClick={() => toggle(String(item.key))}>
                      {open.has(String(item.key)) ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
                    </button>
                  </div>
                )}
                {columns.map((c) => (
                  <div key={c.id} role="cell" data-label={c.title} className={c.end ? 'end' : undefined}>
                    {c.cell(row)}
                  </div>
                ))}
                {details && open.has(String(item.key)) && (
                  <div role="cell" aria-label="Details" className="details">
                    {details(row)}
                  </div>
                )}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
