// Signs and verifies agent cards by the means of @a2a-js/sdk 1.x. One JSON line in, one out:
// {"sign": card, "key": private JWK, "header": protected header} gives {"card": as its server
// writes it}; {"verify": URL of a card, "version": header, "jwks": URL} gives {"ok": true}, or
// what the SDK said in "error".
import { createInterface } from 'node:readline';
import { AgentCard, generateAgentCardSignature, verifyAgentCardSignature } from 'a2a-v1';
import { DefaultAgentCardResolver } from 'a2a-v1/client';

console.debug = () => {}; // the SDK's words about signatures that do not hold

const sign = async ({ sign: card, key, header }) => {
  const signed = await generateAgentCardSignature(key, header)(AgentCard.fromJSON(card));
  return { card: AgentCard.toJSON(signed) };
};

// raw verifies the document itself in place of what the SDK's resolver makes of it.
const verify = async ({ verify: url, jwks, version, raw }) => {
  const headers = version ? { 'A2A-Version': version } : {};
  const fetchImpl = (input, init) => fetch(input, raw ? { headers } : init);
  const card = raw ? await (await fetchImpl(url)).json()
    : await new DefaultAgentCardResolver({ fetchImpl }).resolve(url, '');
  const { keys } = await (await fetch(jwks)).json();
  await verifyAgentCardSignature(async (kid, jku) => {
    if (jku !== jwks) throw new Error(`jku is ${jku}`);
    return keys.find((k) => k.kid === kid);
  })(card);
  return { ok: true };
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let answer;
  try {
    answer = await (asked.sign ? sign(asked) : verify(asked));
  } catch (e) {
    answer = { error: String(e.message ?? e) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
