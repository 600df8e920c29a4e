// What a test build of client.js draws from instead of crypto: bytes of SplitMix64, from a seed.
function scriptedBytes(seed) {
  const mask = (1n << 64n) - 1n;
  let state = BigInt(seed);
  let left = [];
  const more = () => {
    state = (state + 0x9e3779b97f4a7c15n) & mask;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
    z ^= z >> 31n;
    for (let byte = 0; byte < 8; byte += 1) left.push(Number((z >> BigInt(8 * byte)) & 255n));
  };
  return (block) => {
    while (left.length < block.length) more();
    block.forEach((_, place) => { block[place] = left[place]; });
    left = left.slice(block.length);
  };
}

const ordered = (memory) => JSON.stringify(
  Object.entries(memory).map(([question, kept]) => [question, Object.entries(kept).sort()]),
);

function failures(vectors) {
  const wrong = [];
  for (const {schema, seed, values, reports, memory} of vectors) {
    scope.fill = scriptedBytes(seed);
    const client = new scope.discreetLocal.Client(schema);
    const found = values.map((value) => client.privatize(value));
    if (JSON.stringify(found) !== JSON.stringify(reports)) wrong.push([schema, found, reports]);
    if (ordered(client.memory) !== ordered(memory)) wrong.push([client.memory, memory]);
  }
  return wrong;
}
