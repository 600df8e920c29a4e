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

  // Directions of a seed, the same whole numbers as in directions.py; only accuracy rests on them.
  const BYTES = places(256).map((byte) => {
    const size = Math.abs(2 * byte - 255);
    const value = Math.floor(
      (size * (1783121194 - 65225 * size ** 2 + size ** 4) + 150000000) / 300000000,
    );
    return byte > 127 ? value : -value;
  });

  function mixed(given) {
    let value = Math.imul(given ^ (given >>> 16), 0x7feb352d);
    value = Math.imul(value ^ (value >>> 15), 0x846ca68b);
    return (value ^ (value >>> 16)) >>> 0;
  }

  function score(seed, place, steps) {
    return steps.reduce((sum, step, at) => {
      const found = mixed((mixed((place * steps.length + at) >>> 0) + seed) >>> 0);
      return sum + step * (BYTES[found & 255] + BYTES[(found >>> 8) & 255]
        + BYTES[(found >>> 16) & 255] + BYTES[found >>> 24]);
    }, 0);
  }

  // A number from -1 to 1 in whole steps; others are clamped, and no number counts as 0.
  function stepOf(number, steps) {
    if (typeof number !== "number" || Number.isNaN(number)) return 0;
    return Math.floor(Math.max(-1, Math.min(1, number)) * steps + 0.5);
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
    laplace(oracle, index) {
      const noisy = coin(oracle.noise);
      const below = coin(WHOLE >> 1n);
      const low = oracle.digits.map((digit, place) => (coin(digit) ? 2 ** place : 0));
      const lead = [...places(oracle.coins).map(() => coin(oracle.more)), false].indexOf(false);
      const unit = 2 ** low.length;
      const size = low.reduce((sum, each) => sum + each, 1 + lead * unit);
      const sizes = oracle.coins * unit;
      const told = index + (noisy ? (below ? -size : size) : 0) + sizes - oracle.size;
      return Math.max(0, Math.min(told, 2 * sizes - oracle.size - 1));
    },
    coordinate(oracle, steps) {
      const place = uniform(oracle.dimensions);
      const high = uniform(2 * oracle.steps) < steps[place] + oracle.steps;
      return [place, direct({size: 2, keep: oracle.keep}, high ? 1 : 0)];
    },
    directions(oracle, steps) {
      const length = BigInt(uniform(oracle.steps));
      const square = steps.reduce((sum, step) => sum + BigInt(step) * BigInt(step), 0n);
      const kept = length * length < square ? steps : steps.map(() => 0);
      const seed = uniform(2 ** 32);
      const scores = places(oracle.directions).map((place) => score(seed, place, kept));
      const order = places(oracle.directions).sort((a, b) => scores[b] - scores[a] || a - b);
      const named = coin(oracle.keep) ? order.slice(0, oracle.near) : order.slice(oracle.near);
      return [seed, named[uniform(named.length)]];
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
      const [a, b, c, d, e] = oracle.hashes[row];
      let cell = cellOf(affine(a, b, index, oracle.prime), c, index, oracle);
      if (oracle.signed) cell = 2 * cell + Number(affine(d, e, index, oracle.prime) % 2n);
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

  // What is computed of a schema's numbers must be exact as well: above 2^53 odd ones are lost.
  function exact(value) {
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError();
    return value;
  }

  function above(value) {
    if (value === 0) throw new RangeError();
    return whole(value);
  }

  function digits(text) {
    if (typeof text !== "string" || text.length > 1000 || !/^[0-9]+$/.test(text)) {
      throw new RangeError();
    }
    return BigInt(text);
  }

  function chance(text) {
    const value = digits(text);
    if (value > WHOLE) throw new RangeError();
    return value;
  }

  function list(value) {
    if (!Array.isArray(value)) throw new RangeError();
    return value;
  }

  function numbers(value, length) {
    if (list(value).length !== length) throw new RangeError();
    return value.map(whole);
  }

  function words(bits) {
    if (bits > 32n) throw new RangeError();
    return 1n << bits;
  }

  function expBelow(epsilon) {
    if (typeof epsilon !== "string") throw new RangeError();
    const at = epsilon.indexOf("/");
    const p = digits(at < 0 ? epsilon : epsilon.slice(0, at));
    const q = digits((at < 0 ? "" : epsilon.slice(at + 1)) || "1");
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

  function product(parts) {
    return list(parts).reduce((found, digit) => {
      const given = list(digit).map(whole);
      const divisor = given[{2: 0, 4: 2}[digit.length]];
      const below = given[digit.length - 1];
      if (!divisor || !below) throw new RangeError();
      return exact(found * below);
    }, 1n);
  }

  const SHAPES = {
    direct: ["size"], unary: ["size"], mean: ["size"],
    hashing: ["prime", "cells"], sketch: ["prime", "cells"], bloom: ["prime", "cells"],
    hadamard: ["bits", "rows"], subset: ["size", "chosen"], wave: ["size", "reach"],
    laplace: ["size", "coins"],
    coordinate: ["dimensions", "steps"],
    directions: ["dimensions", "steps", "directions", "near"], one_of: [],
  };
  const VECTORS = ["coordinate", "directions"];
  const known = (kind) => typeof kind === "string" && Object.hasOwn(SHAPES, kind);

  function parts(oracle) {
    if (oracle.kind !== "sketch") {
      return list(oracle.parts).map((part) => [part.oracle, product(part.digits)]);
    }
    list(oracle.hashes).forEach((row) => numbers(row, 5));
    if (typeof oracle.signed !== "boolean") throw new RangeError();
    const cells = exact(above(oracle.cells) * (oracle.signed ? 2n : 1n));
    return oracle.hashes.length > 0 ? [[oracle.inner, cells]] : [];
  }

  // What a single report of kept bits tells, which are told again.
  function onceWithin(kept, again, pairs) {
    const [told, other] = [chance(again.one), chance(again.zero)];
    const [one, zero] = kept.map((each) => each * told + (WHOLE - each) * other);
    const all = WHOLE * WHOLE;
    return alike(one * (all - zero), zero * (all - one), pairs, expBelow(again.once));
  }

  function bitsWithin(oracle, most) {
    const [one, zero] = [chance(oracle.one), chance(oracle.zero)];
    let pairs = 1n;
    if (oracle.kind === "bloom") {
      list(oracle.cohorts).forEach((row) => list(row).forEach((pair) => numbers(pair, 2)));
      pairs = BigInt(Math.max(...oracle.cohorts.map((row) => row.length)));
    }
    return (!Object.hasOwn(oracle, "again") || onceWithin([one, zero], oracle.again, pairs))
      && one > 0n && one < WHOLE && zero > 0n && zero < WHOLE
      && alike(one * (WHOLE - zero), zero * (WHOLE - one), pairs, most);
  }

  function near(one, other, step) {
    const [low, high] = one < other ? [one, other] : [other, one];
    return low * WHOLE >= high * step;
  }

  const up = (value) => -(-value >> 320n);

  function stepsWithin(step, steps, most) {
    let total = 1n << 320n;
    let power = (total * WHOLE + step - 1n) / step;
    for (; steps > 0n && power <= most; steps >>= 1n) {
      if (steps & 1n) total = up(total * power);
      power = up(power * power);
    }
    return steps === 0n && total <= most;
  }

  function noiseWithin(oracle, size, coins, most) {
    const [step, noise, more] = [oracle.step, oracle.noise, oracle.more].map(chance);
    const low = list(oracle.digits).map(chance);
    const every = [step, noise, more, ...low];
    if (low.length >= 32 || !every.every((each) => each > 0n && each < WHOLE)) return false;
    let [ones, zeros] = [1n, 1n];
    for (const digit of low) {
      if (!near(digit * zeros, (WHOLE - digit) * ones, step)) return false;
      [ones, zeros] = [ones * digit, zeros * (WHOLE - digit)];
    }
    const least = noise * (WHOLE - more) * zeros;
    return size > 1n && 4n * size < exact(coins << BigInt(low.length + 2))
      && near(more * zeros, WHOLE * ones, step)
      && near(least, 2n * (WHOLE - noise) * WHOLE ** BigInt(low.length + 1), step)
      && stepsWithin(step, size - 1n, most);
  }

  function within(oracle, values, most) {
    const kind = oracle.kind;
    if (!known(kind)) return false;
    const shape = Object.fromEntries(SHAPES[kind].map((name) => [name, above(oracle[name])]));
    if (kind === "one_of" || kind === "sketch") {
      const inside = parts(oracle);
      return inside.length > 0 && inside.every(([inner, below]) => !VECTORS.includes(inner.kind)
        && !Object.hasOwn(inner, "again") && within(inner, below, most));
    }
    if (kind === "unary" || kind === "bloom") return bitsWithin(oracle, most);
    if (kind === "laplace") {
      return values <= shape.size && noiseWithin(oracle, shape.size, shape.coins, most);
    }
    const keep = chance(oracle.keep);
    const size = shape.size ?? values;
    let [near, far] = [1n, size - 1n];
    if (kind === "mean") far = size > 1n ? 1n : 0n;
    if (kind === "coordinate") far = 1n;
    if (kind === "hashing") far = shape.cells - 1n;
    if (kind === "hadamard") {
      const masks = Object.hasOwn(oracle, "masks") ? list(oracle.masks) : [0];
      masks.forEach(whole);
      words(shape.bits);
      far = masks.length > 0 ? words(shape.rows) - 1n : 0n;
    }
    if (kind === "subset") [near, far] = [shape.chosen, size - shape.chosen];
    if (kind === "wave") {
      near = 2n * shape.reach + 1n;
      exact(size + near);
    }
    if (kind === "directions") [near, far] = [shape.near, shape.directions - shape.near];
    const fits = VECTORS.includes(kind) ? values === shape.dimensions : values <= size;
    return fits && far > 0n && alike(keep * far, (WHOLE - keep) * near, 1n, most);
  }

  function valuesOf(domain) {
    if (Object.hasOwn(domain, "vector")) return above(domain.vector);
    if (Object.hasOwn(domain, "text")) return domain.text === true ? TEXT_PRIME : above(0);
    if ((domain.labels ?? null) === null) return above(domain.size);
    if (!list(domain.labels).every((label) => typeof label === "string")) throw new RangeError();
    return BigInt(domain.labels.length);
  }

  function keepsItsWord({domain, epsilon, memoised, name, oracle, version}) {
    try {
      const most = expBelow(epsilon);
      above(version);
      const vectors = Object.hasOwn(domain, "vector");
      if (typeof name !== "string" || typeof memoised !== "boolean") return false;
      if (vectors !== VECTORS.includes(oracle.kind) || (vectors && memoised)) return false;
      if (Object.hasOwn(oracle, "again") && !(memoised && oracle.kind === "bloom")) return false;
      return within(oracle, valuesOf(domain), most);
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
      if (!known(schema.oracle?.kind)) {
        throw new Refused("local_schema_kind", "an oracle that is known here");
      }
      if (!keepsItsWord(schema)) {
        throw new Refused("local_schema_chances", "chances that keep the schema's epsilon");
      }
      this.schema = schema;
      const labels = schema.domain.labels;
      this.labels = labels && new Map(labels.map((label, place) => [label, place]));
      this.question = `${schema.name}/${schema.version}`;
      this.memory = memory || {};
      this.asked = JSON.stringify([schema.domain, schema.oracle]);
      if (schema.memoised && Object.hasOwn(this.memory, this.question)) this.kept();
    }

    kept() {
      if (!Object.hasOwn(this.memory, this.question)) this.memory[this.question] = {};
      const kept = this.memory[this.question];
      // With other numbers for the same values, whether a kept report comes again would tell them.
      if (!Object.hasOwn(kept, "asked")) {
        delete kept.value; // of which question, nobody knows: it is drawn anew
        kept.asked = this.asked;
      }
      if (kept.asked !== this.asked) {
        throw new Refused("local_schema_changed",
          "the question that this name and version asked before; another one has another version");
      }
      return kept;
    }

    forget() {
      if (Object.hasOwn(this.memory, this.question)) delete this.memory[this.question].value;
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
      if (!Object.hasOwn(oracle, "again")) return kept.report;
      const [cohort, bits] = kept.report;
      const held = places(oracle.cells).map(
        (place) => ((parseInt(bits.substr(2 * (place >> 3), 2), 16) >> (place & 7)) & 1) === 1,
      );
      return [cohort, unary(oracle.again, held)];
    }

    index(value) {
      const domain = this.schema.domain;
      if (Object.hasOwn(domain, "vector")) {
        if ((Array.isArray(value) || ArrayBuffer.isView(value)) && value.length === domain.vector) {
          return Array.from(value, (each) => stepOf(each, this.schema.oracle.steps));
        }
      } else if (domain.text) {
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
