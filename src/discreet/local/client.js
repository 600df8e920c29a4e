// The client of local privacy for web pages: the twin of client.py, held to the same test vectors.
// One file, no dependencies. Chances are whole numbers over 2^64 from the schema, compared as BigInt
// with words of crypto.getRandomValues; nothing here calls Math.random or Math.exp.
//
//   const client = new discreetLocal.Client(schemaText);
//   fetch("/collect", {method: "POST", body: client.privatize("yes")});
(function (scope) {
  "use strict";

  const FORMAT = "discreet.local/1";
  const TEXT_PRIME = 2147483647n;
  const WHOLE = 1n << 64n;

  class Refused extends Error {
    constructor(code, expectation) {
      super(`[${code}] Expected ${expectation}.`);
      this.code = code;
    }
  }

  function bytes(count) {
    const block = new Uint8Array(count);
    crypto.getRandomValues(block);
    return block;
  }

  function word() {
    let value = 0n;
    bytes(8).forEach((byte, place) => { value |= BigInt(byte) << BigInt(8 * place); });
    return value;
  }

  const coin = (chance) => word() < BigInt(chance);

  function uniform(below) {
    const size = BigInt(below);
    const limit = WHOLE - (WHOLE % size);
    for (;;) {
      const value = word();
      if (value < limit) return Number(value % size);
    }
  }

  const hex = (block) => Array.from(block, (byte) => byte.toString(16).padStart(2, "0")).join("");

  const affine = (a, b, index, prime) =>
    (BigInt(a) * BigInt(index) + BigInt(b)) % BigInt(prime);

  const cellOf = (a, b, index, oracle) =>
    Number(affine(a, b, index, oracle.prime) % BigInt(oracle.cells));

  function direct(oracle, index) {
    if (coin(oracle.keep)) return index;
    const other = uniform(oracle.size - 1);
    return other + (other >= index ? 1 : 0);
  }

  function unary(oracle, bits) {
    const packed = new Uint8Array(Math.ceil(bits.length / 8));
    bits.forEach((bit, place) => {
      if (coin(bit ? oracle.one : oracle.zero)) packed[place >> 3] |= 1 << (place & 7);
    });
    return hex(packed);
  }

  const places = (count) => Array.from({length: count}, (_, place) => place);

  function parity(row, index) {
    let value = BigInt(row) & BigInt(index);
    let odd = 0;
    for (; value > 0n; value &= value - 1n) odd ^= 1;
    return odd;
  }

  const KINDS = {
    direct,
    unary: (oracle, index) => unary(oracle, places(oracle.size).map((place) => place === index)),
    hashing(oracle, index) {
      const a = uniform(oracle.prime);
      const b = uniform(oracle.prime);
      const cell = cellOf(a, b, index, oracle);
      return [a, b, direct({size: oracle.cells, keep: oracle.keep}, cell)];
    },
    hadamard(oracle, index) {
      const masks = oracle.masks;
      const rows = places(oracle.rows).map(
        () => (masks ? masks[uniform(masks.length)] : uniform(2 ** oracle.bits)),
      );
      const value = rows.reduce((sum, row, place) => sum + parity(row, index) * 2 ** place, 0);
      return [...rows, direct({size: 2 ** rows.length, keep: oracle.keep}, value)];
    },
    subset(oracle, index) {
      const kept = coin(oracle.keep);
      const others = oracle.size - 1;
      const chosen = new Set();
      for (let top = others - oracle.chosen + (kept ? 1 : 0); top < others; top += 1) {
        const place = uniform(top + 1);
        chosen.add(chosen.has(place) ? top : place);
      }
      const found = Array.from(chosen, (other) => other + (other >= index ? 1 : 0));
      if (kept) found.push(index);
      return found.sort((one, two) => one - two);
    },
    wave(oracle, index) {
      const near = 2 * oracle.reach + 1;
      if (coin(oracle.keep)) return index + uniform(near);
      const far = uniform(oracle.size - 1);
      return far < index ? far : far + near;
    },
    mean(oracle, index) {
      const high = uniform(oracle.size - 1) < index;
      return direct({size: 2, keep: oracle.keep}, high ? 1 : 0);
    },
    one_of(oracle, index) {
      const part = uniform(oracle.parts.length);
      const {digits, oracle: inner} = oracle.parts[part];
      let value = 0;
      for (const digit of digits) {
        const below = digit[digit.length - 1];
        const found = digit.length === 2
          ? Math.floor(index / digit[0]) % below
          : Number(affine(digit[0], digit[1], index, digit[2]) % BigInt(below));
        value = value * below + found;
      }
      return [part, KINDS[inner.kind](inner, value)];
    },
    sketch(oracle, index) {
      const row = uniform(oracle.hashes.length);
      const [a, b, c, d] = oracle.hashes[row];
      let cell = cellOf(a, b, index, oracle);
      if (oracle.signed) cell = 2 * cell + Number(affine(c, d, index, oracle.prime) % 2n);
      return [row, KINDS[oracle.inner.kind](oracle.inner, cell)];
    },
    bloom(oracle, index, client) {
      let cohort;
      if (client.schema.memoised) {
        if (!("cohort" in client.memory)) client.memory.cohort = uniform(oracle.cohorts.length);
        cohort = client.memory.cohort;
      } else {
        cohort = uniform(oracle.cohorts.length);
      }
      const cells = new Set(oracle.cohorts[cohort].map(([a, b]) => cellOf(a, b, index, oracle)));
      return [cohort, unary(oracle, places(oracle.cells).map((place) => cells.has(place)))];
    },
  };

  function fingerprint(text) {
    let value = 0xcbf29ce484222325n;
    for (const byte of new TextEncoder().encode(text)) {
      value = ((value ^ BigInt(byte)) * 0x100000001b3n) % WHOLE;
    }
    return Number(value % TEXT_PRIME);
  }

  class Client {
    constructor(text, memory) {
      const schema = JSON.parse(text);
      if (schema === null || schema.format !== FORMAT) {
        throw new Refused("local_schema_format", `a schema of format ${FORMAT}`);
      }
      if (!Object.hasOwn(KINDS, schema.oracle.kind)) {
        throw new Refused("local_schema_kind", "an oracle that is known here");
      }
      this.schema = schema;
      const labels = schema.domain.labels;
      this.labels = labels && new Map(labels.map((label, place) => [label, place]));
      this.memory = memory || {kept: {}};
    }

    privatize(value) {
      const report = this.payload(this.index(value));
      const {name, version} = this.schema;
      return JSON.stringify({schema: name, version, nonce: hex(bytes(16)), report});
    }

    payload(index) {
      const oracle = this.schema.oracle;
      if (!this.schema.memoised) return KINDS[oracle.kind](oracle, index, this);
      const kept = this.memory.kept;
      if (!(index in kept)) kept[index] = KINDS[oracle.kind](oracle, index, this);
      if (!oracle.again) return kept[index];
      const [cohort, bits] = kept[index];
      const held = places(oracle.cells).map(
        (place) => ((parseInt(bits.substr(2 * (place >> 3), 2), 16) >> (place & 7)) & 1) === 1,
      );
      return [cohort, unary(oracle.again, held)];
    }

    index(value) {
      const domain = this.schema.domain;
      if (domain.text) {
        if (typeof value === "string" && value.isWellFormed()) return fingerprint(value);
      } else if (this.labels) {
        if (typeof value === "string" && this.labels.has(value)) return this.labels.get(value);
      } else if (Number.isInteger(value) && value >= 0 && value < domain.size) {
        return value;
      }
      throw new Refused("local_value_outside", "a value of the schema's domain");
    }
  }

  scope.discreetLocal = Object.freeze({Client, Refused, fingerprint});
})(globalThis);
