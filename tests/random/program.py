"""Random BSPlib programs, legal by construction, and what must come of them.

The model follows the manual pages, not the library: memories are byte strings, registrations a list,
messages lists.  Each call is drawn by a generator of its own, seeded by the seed, the superstep and
the call's number, and made to fit the state it meets: so a program with calls left out is legal, too,
and a failing one can be shrunk.
"""

import random
import zlib

MEMORY, TAG_MOST, AREA_MOST, NONE = 1024, 64, 160, -1
(SYNC, STORE, PUSH, POP, PUT, HPPUT, GET, HPGET, SET_TAGSIZE, SEND, QSIZE, GET_TAG, MOVE, HPMOVE,
 SUM, PREFIX, FOLD, SCAN, BCAST, GATHER, SCATTER, DIE, MISTAKE, LEAVE_OUT) = range(24)
FREE, TOUCHED, ALONE = range(3)  # a byte of a memory in this superstep; ALONE: by one hp call
PUSHED, LIVE, POPPED, CANCELLED = range(4)
EVERYBODY = -1
INNOCENT = -1  # in place of a mistake's number
MASK = 0xffffffff


def pattern(seed, length):
    return bytes((seed * 7 + i * 13 + (i * seed >> 3)) & 255 for i in range(length))


def word(value):
    return (value & MASK).to_bytes(4, 'little')


class Slot:
    """One registration: where and how much, by process."""

    def __init__(self, bases, sizes):
        self.bases, self.sizes, self.state = bases, sizes, PUSHED


class Program:
    """A program of `procs` processes: .lines is the script, .expected the lines of its output."""

    def __init__(self, seed, procs, supersteps, skip=(), oxford=False, mistake=False, die=0):
        self.p, self.oxford = procs, oxford
        self.memory = [bytearray(pattern(pid + 1, MEMORY)) for pid in range(procs)]
        self.slots = []
        self.tag_sending = self.tag_set = 0
        self.queue = [[] for _ in range(procs)]
        self.lines, self.expected, self.names = [], [], []
        self.superstep = 0
        self.own_syncs = 0
        self.mistake = None
        self.ended = None  # the superstep before this one
        self.drawn = []  # how many calls each superstep drew
        for superstep in range(supersteps):
            self.begin_superstep()
            chance = random.Random(f'{seed}/{superstep}')
            kind = chance.random()
            self.quiet = kind < 0.08        # a collective that moves memory ends it
            self.sending = kind >= 0.25     # what is sent before a collective may be lost in it
            self.registering = not self.quiet and chance.random() < 0.7
            if die and superstep == 1 + die % max(1, supersteps - 1):
                self.emit(die % procs, DIE)
            self.drawn.append(int(chance.random() ** 2 * 9 * procs) + 3)
            for number in range(self.drawn[-1]):
                if f'{superstep}.{number}' not in skip:
                    self.draw(random.Random(f'{seed}/{superstep}/{number}'))
            self.end_at = len(self.lines)
            if mistake and superstep == supersteps - 1:
                self.draw_mistake(random.Random(f'{seed}/mistake'))
                self.expect_ended()
                return
            chance = random.Random(f'{seed}/{superstep}/end')
            if self.quiet:
                self.move_together(chance)
            elif kind < 0.25:
                self.compute_together(chance)
            else:
                self.emit(EVERYBODY, SYNC)
                self.own_syncs += 1
                self.synchronise()
                self.finish_superstep()
        self.begin_superstep()
        self.expect_ended()

    # ---- The script and what is told -------------------------------------------------------

    def emit(self, who, what, *arguments):
        self.lines.append(' '.join(str(n) for n in (who, what, *arguments)))

    def tell(self, pid, data):
        self.told[pid] = zlib.crc32(data, self.told[pid])

    def begin_superstep(self):
        self.told = [0] * self.p
        self.use = [bytearray(MEMORY) for _ in range(self.p)]
        self.written_early = [[] for _ in range(self.p)]  # by target, in this superstep: (place, size)
        self.puts = [[] for _ in range(self.p)]   # by caller: (target, place, bytes)
        self.gets = [[] for _ in range(self.p)]   # by caller: (owner, place, destination, size)
        self.sent = [[] for _ in range(self.p)]   # by caller: (target, tag, payload)

    def finish_superstep(self):
        self.expect_ended()
        self.ended = (self.end_at, [bytearray(memory) for memory in self.memory], list(self.told))
        self.superstep += 1

    def expect_ended(self):
        """What the processes show after the superstep before this one.  bsp_hpput may write at once, while its
        target still computes the checksum: these bytes are left out of it."""
        if not self.ended:
            return
        place, memory, told = self.ended
        self.ended = None
        for pid in range(self.p):
            for at, n in self.written_early[pid]:
                self.lines.insert(place, f'{pid} {LEAVE_OUT} {at} {n}')
                self.end_at += 1
                memory[pid][at:at + n] = bytes(n)
            self.expected.append(f'{self.superstep - 1} {pid} {zlib.crc32(memory[pid]):08x} {told[pid]:08x}')

    # ---- The end of a superstep ------------------------------------------------------------

    def synchronise(self):
        """Gets are read, then written in the order of issue; puts by source; messages; the rest."""
        read = [[bytes(self.memory[owner][at:at + n]) for owner, at, _, n in gets]
                for gets in self.gets]
        for pid, gets in enumerate(self.gets):
            for (_, _, destination, n), data in zip(gets, read[pid]):
                self.memory[pid][destination:destination + n] = data
        for puts in self.puts:
            for target, at, data in puts:
                self.memory[target][at:at + len(data)] = data
        self.queue = [[(tag, payload) for sent in self.sent for to, tag, payload in sent
                       if to == pid] for pid in range(self.p)]
        self.slots = [slot for slot in self.slots if slot.state in (PUSHED, LIVE)]
        for slot in self.slots:
            slot.state = LIVE
        self.tag_sending = self.tag_set

    # ---- Bytes that a call may use ---------------------------------------------------------

    def claim(self, pid, at, n, how):
        """Whether the call may use these bytes; they are its, or everybody's, from now on."""
        used = self.use[pid][at:at + n]
        if any(used) if how == ALONE else ALONE in used:
            return False
        self.use[pid][at:at + n] = bytes([how]) * n
        return True

    def claim_both(self, first, second, how):
        before = [bytes(used) for used in self.use]
        if self.claim(*first, how) and self.claim(*second, how):
            return True
        self.use = [bytearray(used) for used in before]
        return False

    # ---- Registrations ---------------------------------------------------------------------

    def found(self, pid, base):
        """The slot that `base` means to a put or get of this process now."""
        states = (LIVE, POPPED, PUSHED, CANCELLED) if self.oxford else (LIVE, POPPED)
        for slot in reversed(self.slots):
            if slot.bases[pid] == base and slot.state in states:
                return slot
        return None

    def usable(self, pid):
        return [slot for slot in self.slots
                if slot.bases[pid] != NONE and self.found(pid, slot.bases[pid]) is slot]

    def to_pop(self, pid, base):
        for slot in reversed(self.slots):
            if slot.bases[pid] == base and slot.state in (LIVE, PUSHED):
                return slot
        return None

    def push(self, chance):
        bases, sizes = [], []
        nobody = chance.random() < 0.05
        for pid in range(self.p):
            known = [slot.bases[pid] for slot in self.slots if slot.bases[pid] != NONE]
            if nobody or chance.random() < 0.12:
                bases.append(NONE)
                sizes.append(0)
                continue
            base = chance.choice(known) if known and chance.random() < 0.4 else \
                chance.randrange(MEMORY - 8)
            bases.append(base)
            sizes.append(chance.randrange(min(AREA_MOST, MEMORY - base) + 1))
        for pid in range(self.p):
            self.emit(pid, PUSH, bases[pid], sizes[pid])
        self.slots.append(Slot(bases, sizes))

    def pop(self, chance):
        candidates = [slot for slot in self.slots if slot.state in (LIVE, PUSHED)]
        if not candidates:
            return
        slot = chance.choice(candidates)
        named = [pid for pid in range(self.p)
                 if slot.bases[pid] != NONE and self.to_pop(pid, slot.bases[pid]) is slot]
        if set(slot.bases) == {NONE}:
            newest = [s for s in candidates if set(s.bases) == {NONE}][-1]
            if newest is not slot:
                return
        elif not named:
            return
        sure = chance.choice(named) if named else NONE
        for pid in range(self.p):
            by_name = pid in named and (pid == sure or chance.random() < 0.8)
            self.emit(pid, POP, slot.bases[pid] if by_name else NONE)
        slot.state = POPPED if slot.state == LIVE else CANCELLED

    # ---- Calls -----------------------------------------------------------------------------

    def draw(self, chance):
        roll = chance.random()
        pid = chance.randrange(self.p)
        if roll < 0.14:
            self.store(chance, pid)
        elif roll < 0.24:
            self.read(chance, pid)
        elif roll < 0.38 and self.sending:
            self.send(chance, pid)
        elif roll < 0.41 and not self.quiet:
            self.set_tagsize(chance)
        elif roll < 0.50 and self.registering:
            self.push(chance)
        elif roll < 0.57 and self.registering:
            self.pop(chance)
        elif roll < 0.60:
            self.nothing(chance, pid)
        elif not self.quiet:
            for _ in range(1 if chance.random() < 0.8 else chance.randrange(2, 9)):
                self.access(chance, pid)

    def nothing(self, chance, pid):
        """Of no bytes: nothing else is looked at."""
        what = chance.choice((PUT, HPPUT, GET, HPGET))
        self.emit(pid, what, chance.randrange(-3, 40), *(chance.randrange(-1, 900) for _ in range(3)),
                  0)

    def store(self, chance, pid):
        n = chance.randrange(1, 40)
        at, seed = chance.randrange(MEMORY - n), chance.randrange(1, 250)
        if self.claim(pid, at, n, TOUCHED):
            self.emit(pid, STORE, at, n, seed)
            self.memory[pid][at:at + n] = pattern(seed, n)

    def access(self, chance, pid):
        slots = self.usable(pid)
        other = chance.randrange(self.p)
        slots = [slot for slot in slots if slot.sizes[other] > 0]
        if not slots:
            return
        slot = chance.choice(slots)
        size, base = slot.sizes[other], slot.bases[other]
        any_size = chance.random() < 0.5
        n = chance.randrange(1, size + 1) if any_size else min(size, chance.choice((1, 4, 8, 16)))
        offset, own = chance.randrange(size - n + 1), chance.randrange(MEMORY - n)
        what = chance.choice((PUT, PUT, PUT, GET, GET, GET, HPPUT, HPGET))
        how = ALONE if what in (HPPUT, HPGET) else TOUCHED
        if not self.claim_both((pid, own, n), (other, base + offset, n), how):
            return
        if what == HPPUT:
            self.written_early[other].append((base + offset, n))
        if what in (PUT, HPPUT):
            self.emit(pid, what, other, own, slot.bases[pid], offset, n)
            self.puts[pid].append((other, base + offset, bytes(self.memory[pid][own:own + n])))
        else:
            self.emit(pid, what, other, slot.bases[pid], offset, own, n)
            self.gets[pid].append((other, base + offset, own, n))

    def set_tagsize(self, chance):
        size = chance.choice((0, 1, 4, 8, 12, 16, 40, TAG_MOST))
        self.emit(EVERYBODY, SET_TAGSIZE, size)
        for pid in range(self.p):
            self.tell(pid, word(self.tag_set))
        self.tag_set = size
        if self.oxford:
            self.tag_sending = size

    def send(self, chance, pid):
        to, tag, payload = chance.randrange(self.p), chance.randrange(250), chance.randrange(250)
        n = chance.choice((0, 1, 4, 8, 16, 20, chance.randrange(200)))
        self.emit(pid, SEND, to, n, tag, payload)
        self.sent[pid].append((to, pattern(tag, self.tag_sending), pattern(payload, n)))

    def read(self, chance, pid):
        queue = self.queue[pid]
        what = chance.choice((QSIZE, GET_TAG, MOVE, MOVE, HPMOVE))
        if what == QSIZE:
            unwanted = chance.randrange(4)
            self.emit(pid, QSIZE, unwanted)
            self.tell(pid, word(-7 if unwanted & 1 else len(queue)))
            self.tell(pid, word(-7 if unwanted & 2 else sum(len(m[1]) for m in queue)))
        elif what == GET_TAG:
            self.emit(pid, GET_TAG)
            self.tell(pid, word(len(queue[0][1]) if queue else -1))
            self.tell(pid, (queue[0][0] if queue else b'').ljust(TAG_MOST, b'\0'))
        elif what == MOVE and (queue or self.oxford):
            room = chance.choice((0, 3, 8, 500))
            self.emit(pid, MOVE, room)
            payload = queue.pop(0)[1] if queue else b''
            self.tell(pid, payload[:room].ljust(MEMORY, b'\0'))
        elif what == HPMOVE:
            status = len(queue[0][1]) if queue else -1
            tag, payload = queue.pop(0) if queue else (b'', b'')
            self.emit(pid, HPMOVE, len(tag))
            self.tell(pid, word(status))
            self.tell(pid, word(0))
            self.tell(pid, tag)
            self.tell(pid, payload)

    # ---- Collective operations -------------------------------------------------------------

    def compute_together(self, chance):
        """What is under way is carried out; messages not read are lost."""
        what, n = chance.choice((SUM, PREFIX, FOLD, SCAN)), chance.randrange(1, 1000)
        self.emit(EVERYBODY, what, n)
        self.synchronise()
        self.queue = [[] for _ in range(self.p)]
        best, scanned, total = 0, [], (1, 0)
        for pid in range(self.p):
            a, b = 2 * (n + pid) + 1, n * pid
            total = (total[0] * a & MASK, (total[1] * a + b) & MASK)
            scanned.append(total)
        for pid in range(self.p):
            result = (0, 0)
            if what == SUM:
                self.tell(pid, word(sum(n + i for i in range(self.p))))
            elif what == PREFIX:
                best = max(best, n * (pid + 3) % 17)
                self.tell(pid, word(best))
            else:
                result = total if what == FOLD else scanned[pid]
            self.tell(pid, word(result[0]) + word(result[1]))
        self.finish_superstep()

    def move_together(self, chance):
        """bsp_bcast, bsp_gather or bsp_scatter, with nothing else under way."""
        what, root = chance.choice((BCAST, GATHER, SCATTER)), chance.randrange(self.p)
        n = chance.randrange(1, 13)
        slots = [slot for slot in self.slots
                 if all(slot in self.usable(pid) for pid in range(self.p)) and
                 (slot.sizes[root] >= self.p * n if what != BCAST else min(slot.sizes) >= n)]
        if not slots:
            self.emit(EVERYBODY, SYNC)
            self.own_syncs += 1
            self.synchronise()
            self.finish_superstep()
            return
        slot = chance.choice(slots)
        base = slot.bases[root]
        own = [chance.randrange(MEMORY - n) for _ in range(self.p)]
        if what == BCAST and base < own[root] + n and own[root] < base + n:
            own[root] = base
        for pid in range(self.p):
            if what == SCATTER:
                self.emit(pid, what, root, slot.bases[pid], own[pid], n)
            else:
                self.emit(pid, what, root, own[pid], slot.bases[pid], n)
        self.synchronise()
        self.queue = [[] for _ in range(self.p)]
        parts = [bytes(self.memory[pid][own[pid]:own[pid] + n]) for pid in range(self.p)]
        whole = bytes(self.memory[root][base:base + self.p * n])
        for pid in range(self.p):
            if what == BCAST:
                self.memory[pid][slot.bases[pid]:slot.bases[pid] + n] = parts[root]
            elif what == SCATTER:
                self.memory[pid][own[pid]:own[pid] + n] = whole[pid * n:(pid + 1) * n]
            self.tell(pid, bytes(8))
        if what == GATHER:
            self.memory[root][base:base + self.p * n] = b''.join(parts)
        self.finish_superstep()

    # ---- Mistakes --------------------------------------------------------------------------

    def draw_mistake(self, chance):
        """One mistake ends the program: .mistake says what the message must name."""
        everywhere = [slot for slot in self.slots
                      if all(slot in self.usable(pid) for pid in range(self.p))]
        choices = [row for row in MISTAKES
                   if not (row.several and self.p == 1) and not (row.strict and self.oxford) and
                   not (row.who == 'all' and row.area and not everywhere)]
        row = chance.choice(choices)
        pid = chance.randrange(self.p)
        if row.who == 'one' and row.area:
            able = [k for k in range(self.p) if self.usable(k)]
            if not able:
                row, pid = MISTAKES[2], 0
            else:
                pid = chance.choice(able)
        slot = None
        if row.area and row.who == 'all':
            slot = chance.choice(everywhere)
        elif row.area:
            slot = chance.choice(self.usable(pid))
        for k in range(self.p):
            if row.who == 'one' and k != pid:
                self.emit(k, MISTAKE, INNOCENT)
            else:
                self.emit(k, MISTAKE, row.number, slot.bases[k] if slot else NONE,
                          slot.sizes[self.p - 1] if slot else 0)
        named = {'one': pid, 'first': 0, 'last': self.p - 1, 'any': None}[row.named]
        self.mistake = (row.function, row.mark, named, self.own_syncs)


class Mistake:
    """A row of the table: who makes it, whom the message names, what it needs."""

    def __init__(self, number, function, mark, who='one', named='one', area=False, strict=False,
                 several=False):
        self.number, self.function, self.mark = number, function, mark
        self.who, self.named = who, named
        self.area, self.strict, self.several = area, strict, several


MISTAKES = [
    Mistake(0, 'bsp_put', 'put_pid', area=True),
    Mistake(1, 'bsp_get', 'get_pid', area=True),
    Mistake(2, 'bsp_send', 'send_pid'),
    Mistake(3, 'bsp_put', 'put_unregistered'),
    Mistake(4, 'bsp_hpget', 'hpget_unregistered'),
    Mistake(5, 'bsp_put', 'put_bounds', area=True),
    Mistake(6, 'bsp_get', 'get_bounds', area=True),
    Mistake(7, 'bsp_put', 'put_offset', area=True, strict=True),
    Mistake(8, 'bsp_hpput', 'hpput_size', area=True, strict=True),
    Mistake(9, 'bsp_push_reg', 'push_negative'),
    Mistake(10, 'bsp_push_reg', 'push_null'),
    Mistake(11, 'bsp_pop_reg', 'pop_unregistered'),
    Mistake(12, 'bsp_send', 'send_null'),
    Mistake(13, 'bsp_send', 'send_negative', strict=True),
    Mistake(14, 'bsp_set_tagsize', 'tag_negative'),
    Mistake(15, 'bsp_get_tag', 'get_tag_null'),
    Mistake(16, 'bsp_move', 'move_negative', strict=True),
    Mistake(17, 'bsp_hpmove', 'hpmove_null'),
    Mistake(18, 'bsp_begin', 'begin_again'),
    Mistake(19, 'bsp_init', 'init_null'),
    Mistake(20, 'bsp_put', 'put_null', area=True),
    Mistake(21, 'bsp_get', 'get_null', area=True),
    Mistake(22, 'bsp_put', 'fresh', strict=True),
    Mistake(23, 'bsp_bcast', 'root'),
    Mistake(24, 'bsp_fold', 'fold_size'),
    Mistake(25, 'bsp_sync', 'barrier', who='all', named='first', several=True),
    Mistake(26, 'bsp_sync', 'barrier', who='all', named='first', several=True),
    Mistake(27, 'bsp_set_tagsize', 'tag_differs', who='all', named='first', several=True),
    Mistake(28, 'bsp_sumI', 'sum_alone', who='all', named='last', several=True),
    Mistake(29, 'bsp_gather', 'roots', who='all', named='any', area=True, several=True),
    Mistake(30, 'bsp_pop_reg', 'pops', who='all', named='first', several=True),
    Mistake(31, 'bsp_put', 'behind_sum', who='all', named='any', area=True),
]
