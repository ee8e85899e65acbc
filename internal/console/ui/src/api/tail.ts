import type { AuditRecord } from '../parts/record';
import { Failure, get } from './client';
import { follow } from './live';

/** Row is a call, an event, or records that are left out. */
export interface Row {
  key: string;
  record?: AuditRecord;
  gap?: string;
}

export interface Seen {
  rows: Row[]; // the newest first
  seen: number; // records so far, those that are gone from rows as well
  state: 'connecting' | 'live' | 'waiting'; // waiting to connect again
  error?: Failure;
}

export const most = 1000; // rows
const earlier = 50; // records that are shown to begin with
const [firstPause, longestPause] = [1_000, 15_000];

/** Tail keeps the last rows of what there is to hear, and connects again when that ends. */
export class Tail {
  #rows: Row[] = []; // the oldest first
  #begun = new Map<string, Row>(); // calls that have not ended, by request
  #seen = 0;
  #last = 0; // number of the last record
  #state: Seen['state'] = 'connecting';
  #error: Failure | undefined;
  #shown: Seen = { rows: [], seen: 0, state: 'connecting' };
  #tell: () => void = () => undefined;
  #due = false;

  constructor(readonly query: string) {}

  /** listen follows as long as somebody listens. */
  listen = (tell: () => void): (() => void) => {
    const stop = new AbortController();
    this.#tell = tell;
    void this.#run(stop.signal);
    return () => {
      this.#tell = () => undefined;
      stop.abort();
    };
  };

  shown = (): Seen => this.#shown;

  async #run(signal: AbortSignal): Promise<void> {
    for (let pause = firstPause; !signal.aborted; pause = Math.min(2 * pause, longestPause)) {
      try {
        await follow(
          this.query,
          {
            open: (after) => {
              pause = firstPause;
              [this.#state, this.#error] = ['live', undefined];
              this.#changed();
              void this.#recall(after, signal);
            },
            records: (batch) => {
              for (const b of batch) {
                if (!('seq' in b)) this.#skip(`${b.dropped === 1 ? '1 record was' : `${b.dropped} records were`} left out here: more came than this page accepts`);
                else if (b.seq > this.#last) this.#add(b); // one may come again
              }
              this.#changed();
            },
          },
          signal,
        );
      } catch (e) {
        if (signal.aborted) return;
        this.#state = 'waiting';
        this.#error = e instanceof Failure ? e : new Failure(0, 'PAGE', String(e));
        this.#changed();
      }
      await new Promise((done) => setTimeout(done, pause));
    }
  }

  // What was recorded before, or while nobody listened, up to the record that listening
  // began behind. It comes before what was heard since.
  async #recall(after: number, signal: AbortSignal): Promise<void> {
    const [last, newest] = [this.#last, this.#rows.at(-1)];
    const page = await get<{ records: AuditRecord[] }>(`/api/v1/audit/records?${this.query}&limit=${earlier}`).catch(() => ({ records: [] as AuditRecord[] }));
    if (signal.aborted) return;
    const missed = page.records.filter((r) => r.seq > last && r.seq <= after).reverse();
    const since = this.#rows.splice(newest ? this.#rows.indexOf(newest) + 1 : 0);
    if (last > 0 && missed.length === earlier) this.#skip('Records were left out here while there was no connection; Audit has them');
    for (const r of missed) this.#add(r);
    this.#rows.push(...since);
    this.#trim();
    this.#changed();
  }

  #add(r: AuditRecord): void {
    this.#seen++;
    this.#last = Math.max(this.#last, r.seq);
    const begun = r.request_id === undefined ? undefined : this.#begun.get(r.request_id);
    if (r.type === 'call' && begun) {
      begun.record = r;
      this.#begun.delete(r.request_id as string);
      return;
    }
    const row: Row = { key: `r${r.seq}`, record: r };
    if (r.type === 'intent' && r.request_id) this.#begun.set(r.request_id, row);
    this.#rows.push(row);
    this.#trim();
  }

  #skip(text: string): void {
    this.#rows.push({ key: `g${this.#seen}-${this.#rows.length}`, gap: text });
    this.#trim();
  }

  #trim(): void {
    for (const row of this.#rows.splice(0, Math.max(0, this.#rows.length - most))) if (row.record?.request_id) this.#begun.delete(row.record.request_id);
  }

  // A page is drawn anew four times a second at most, however much comes.
  #changed(): void {
    if (this.#due) return;
    this.#due = true;
    setTimeout(() => {
      this.#due = false;
      this.#shown = { rows: this.#rows.map((r) => ({ ...r })).reverse(), seen: this.#seen, state: this.#state, ...(this.#error && { error: this.#error }) };
      this.#tell();
    }, 250);
  }
}
