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
        const kept = client.kept();
        if (!("cohort" in kept)) kept.cohort = uniform(oracle.cohorts.length);
        cohort = kept.cohort;
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

  // Chances that tell more than the schema's epsilon are refused here; see client.py.
  function whole(value) {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError();
    return BigInt(value);
  }

  function words(bits) {
    if (bits > 32n) throw new RangeError();
    return 1n << bits;
  }

  function expBelow(epsilon) {
    const [p, q] = `${epsilon}/1`.split("/").map(BigInt);
    if (p <= 0n || p > 32n * q) throw new RangeError();
    let term = 1n << 320n;
    let total = term;
    for (let place = 1n; term > 0n; place += 1n) {
      term = (term * p) / (q * place);
      total += term;
    }
    return total;
  }

  function alike(one, other, power, most) {
    const [low, high] = one < other ? [one, other] : [other, one];
    return low > 0n && high ** power << 320n <= most * low ** power;
  }

  function product(digits) {
    return digits.reduce((found, digit) => {
      const numbers = digit.map(whole);
      const divisor = numbers[{2: 0, 4: 2}[digit.length]];
      const below = numbers[digit.length - 1];
      if (!divisor || !below) throw new RangeError();
      return found * below;
    }, 1n);
  }

  function within(oracle, values, most) {
    const kind = oracle.kind;
    if (kind === "one_of") {
      return oracle.parts.length > 0
        && oracle.parts.every((part) => within(part.oracle, product(part.digits), most));
    }
    if (kind === "sketch") {
      oracle.hashes.flat().forEach(whole);
      const cells = whole(oracle.cells) * (oracle.signed ? 2n : 1n);
      return whole(oracle.prime) > 0n && within(oracle.inner, cells, most);
    }
    if (kind === "unary" || kind === "bloom") {
      const [one, zero] = [BigInt(oracle.one), BigInt(oracle.zero)];
      let pairs = 1;
      if (kind === "bloom") {
        oracle.cohorts.flat(2).forEach(whole);
        pairs = Math.max(...oracle.cohorts.map((row) => row.length));
      }
      return one > 0n && one < WHOLE && zero > 0n && zero < WHOLE
        && alike(one * (WHOLE - zero), zero * (WHOLE - one), BigInt(pairs), most);
    }
    const keep = BigInt(oracle.keep);
    let [size, near, far] = [values, 1n, 1n];
    if (kind === "hashing") far = whole(oracle.cells) - 1n;
    else if (kind === "hadamard") far = words(whole(oracle.rows)) - 1n;
    else {
      size = whole(oracle.size);
      if (kind !== "mean") far = size - 1n;
      if (kind === "subset") [near, far] = [whole(oracle.chosen), size - whole(oracle.chosen)];
      if (kind === "wave") near = 2n * whole(oracle.reach) + 1n;
    }
    return values <= size && alike(keep * far, (WHOLE - keep) * near, 1n, most);
  }

  function keepsItsWord({domain, epsilon, oracle, version}) {
    try {
      whole(version);
      const size = domain.text ? TEXT_PRIME
        : whole(domain.labels ? domain.labels.length : domain.size);
      return within(oracle, size, expBelow(epsilon));
    } catch {
      return false;
    }
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
      if (!keepsItsWord(schema)) {
        throw new Refused("local_schema_chances", "chances that keep the schema's epsilon");
      }
      this.question = `${schema.name}/${schema.version}`;
      this.memory = memory || {};
    }

    kept() {
      if (!Object.hasOwn(this.memory, this.question)) this.memory[this.question] = {};
      return this.memory[this.question];
    }

    forget() {
      delete this.kept().value;
    }

    privatize(value) {
      const report = this.payload(this.index(value));
      const {name, version} = this.schema;
      return JSON.stringify({schema: name, version, nonce: hex(bytes(16)), report});
    }

    payload(index) {
      const oracle = this.schema.oracle;
      if (!this.schema.memoised) return KINDS[oracle.kind](oracle, index, this);
      const kept = this.kept();
      if (kept.value !== index) {
        kept.report = KINDS[oracle.kind](oracle, index, this);
        kept.value = index;
      }
      if (!oracle.again) return kept.report;
      const [cohort, bits] = kept.report;
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
