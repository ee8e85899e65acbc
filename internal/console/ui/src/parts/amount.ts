const sizes = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** whole is a number as this console writes all of them: 10,000. */
export const whole = (n: number) => n.toLocaleString('en');

/** count is a number with what it counts: 1 agent, 2 agents. Some words have a plural of their own. */
export const count = (n: number, one: string, several = `${one}s`) => `${whole(n)} ${n === 1 ? one : several}`;

/** counted is how many of all there are that somebody asked for. */
export const counted = (shown: number, all: number, one: string, several = `${one}s`) => (shown === all ? count(all, one, several) : `${whole(shown)} of ${count(all, one, several)}`);

/** size is bytes in the units of IEC 80000-13, as the configuration has them: 1.5 MiB, 64 KiB. */
export function size(bytes: number): string {
  const i = bytes < 1 ? 0 : Math.min(sizes.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${+(bytes / 1024 ** i).toFixed(1)} ${sizes[i]}`;
}
