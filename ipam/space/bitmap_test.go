package space

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// Goal: Bitmap is a set, whatever its size and depth, and its summaries never disagree with its words. Method: the twin
// is a list of cells. A cell is a run of indices that operations treat alike: cell boundaries are drawn first, single
// indices are cells of width 1. So the twin is as obvious as []bool and still covers sizes up to 2^64-1.

type cell struct {
	first, last uint64
	set         bool
}

func drawCells(t *rapid.T, size uint64) []cell {
	cuts := map[uint64]bool{0: true}
	for range rapid.IntRange(1, 12).Draw(t, "cuts") {
		at := rapid.Uint64Range(0, size-1).Draw(t, "cut")
		if rapid.Bool().Draw(t, "aligned") {
			at = at >> 6 << 6 // word edges
		}
		cuts[at] = true
		if at+1 < size {
			cuts[at+1] = true
		}
	}
	var cells []cell
	sorted := sortedKeys(cuts)
	for i, first := range sorted {
		last := size - 1
		if i+1 < len(sorted) {
			last = sorted[i+1] - 1
		}
		cells = append(cells, cell{first: first, last: last})
	}
	return cells
}

func drawSize(t *rapid.T) uint64 {
	return rapid.OneOf(
		rapid.Uint64Range(1, 300),
		rapid.Uint64Range(4000, 4200),
		rapid.Uint64Range(65000, 66000),
		rapid.Uint64Range(1<<18-2, 1<<18+2),
		rapid.Uint64Range(1<<32-2, 1<<32+2),
		rapid.Uint64Range(1, 1<<64-1),
		rapid.Just(uint64(1<<64-1)),
	).Draw(t, "size")
}

func TestBitmapIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := drawSize(t)
		b := NewBitmap(size)
		cells := drawCells(t, size)
		pick := func() int { return rapid.IntRange(0, len(cells)-1).Draw(t, "cell") }
		t.Repeat(map[string]func(*rapid.T){
			"range": func(t *rapid.T) {
				from, to := pick(), pick()
				if from > to {
					from, to = to, from
				}
				set := rapid.Bool().Draw(t, "set")
				var want uint64
				for i := from; i <= to; i++ {
					if cells[i].set != set {
						want += cells[i].last - cells[i].first + 1
						cells[i].set = set
					}
				}
				fill := b.ClearRange
				if set {
					fill = b.SetRange
				}
				if have := fill(cells[from].first, cells[to].last); have != want {
					t.Fatalf("filling %d..%d with %v changed %d, want %d", cells[from].first, cells[to].last, set, have, want)
				}
			},
			"one": func(t *rapid.T) {
				c := &cells[pick()]
				if c.first != c.last {
					t.Skip("not a single index")
				}
				set := rapid.Bool().Draw(t, "set")
				op := b.Clear
				if set {
					op = b.Set
				}
				if changed := op(c.first); changed != (c.set != set) {
					t.Fatalf("setting %d to %v from %v: changed %v", c.first, set, c.set, changed)
				}
				c.set = set
			},
			"take": func(t *rapid.T) {
				i := pick()
				from := rapid.SampledFrom([]uint64{cells[i].first, cells[i].last, size, size | 1<<20}).Draw(t, "from")
				want, ok := slowNext(cells[i:], from, false)
				if from >= size || !ok {
					want, ok = slowNext(cells, 0, false)
				}
				if have, found := b.TakeNext(from); found != ok || found && have != want {
					t.Fatalf("took %d %v from %d, want %d %v, in %s", have, found, from, want, ok, b)
				}
				if ok {
					cells = setOne(cells, want)
				}
			},
			"": func(t *rapid.T) { compareBitmap(t, b, cells) },
		})
	})
}

// compareBitmap asks at both ends of every cell.
func compareBitmap(t *rapid.T, b *Bitmap, cells []cell) {
	var count uint64
	for i, c := range cells {
		if c.set {
			count += c.last - c.first + 1
		}
		for _, at := range [...]uint64{c.first, c.last} {
			if have := b.Test(at); have != c.set {
				t.Fatalf("Test(%d) = %v in %s", at, have, b)
			}
			for _, set := range [...]bool{false, true} {
				want, ok := slowNext(cells[i:], at, set)
				have, found := b.next(at, set)
				if found != ok || found && have != want {
					t.Fatalf("next %v from %d = %d %v, want %d %v, in %s", set, at, have, found, want, ok, b)
				}
			}
		}
	}
	if b.Count() != count {
		t.Fatalf("Count = %d, want %d", b.Count(), count)
	}
	if b.root == nil {
		checkFlat(t, &b.flat, b.size)
		return
	}
	checkNode(t, b, b.root, b.top, 0)
}

// checkFlat proves both levels of summary from the words.
func checkFlat(t *rapid.T, f *flat, size uint64) {
	twin := makeFlat(size)
	for w, word := range f.words {
		twin.words[w] = word
		twin.sum(uint64(w))
	}
	if twin.full != f.full || twin.topFull != f.topFull {
		t.Fatalf("summaries of %d: have %x %x, want %x %x", size, f.full, f.topFull, twin.full, twin.topFull)
	}
	if last := f.words[len(f.words)-1]; last&f.pad != f.pad {
		t.Fatalf("a bit beyond size %d is clear", size)
	}
}

// setOne makes a set cell of an index, and cells of what its cell had beside it.
func setOne(cells []cell, at uint64) (split []cell) {
	for _, c := range cells {
		if at < c.first || c.last < at {
			split = append(split, c)
			continue
		}
		if c.first < at {
			split = append(split, cell{c.first, at - 1, c.set})
		}
		split = append(split, cell{at, at, true})
		if at < c.last {
			split = append(split, cell{at + 1, c.last, c.set})
		}
	}
	return split
}

func slowNext(cells []cell, from uint64, set bool) (uint64, bool) {
	for _, c := range cells {
		if c.set == set {
			return max(c.first, from), true
		}
	}
	return 0, false
}

// checkNode proves the summaries of a node and all below.
func checkNode(t *rapid.T, b *Bitmap, nd *node, level int, base uint64) {
	slots := max(len(nd.words), len(nd.kids))
	if beyond := ^uint64(0) << slots; nd.full&beyond != beyond || nd.some&beyond != 0 {
		t.Fatalf("slots beyond the size: full %x some %x", nd.full, nd.some)
	}
	for slot := range slots {
		at := base | uint64(slot)<<slotShift(level)
		full, some := nd.full>>slot&1 != 0, nd.some>>slot&1 != 0
		if level == 0 {
			w := nd.words[slot]
			if full != (bits.OnesCount64(w|b.pad(at)) == 64) || some != (w != 0) || w&b.pad(at) != 0 {
				t.Fatalf("word %x at %d: full %v some %v", w, at, full, some)
			}
			continue
		}
		kid := nd.kids[slot]
		if kid == nil {
			if full != some {
				t.Fatalf("uniform child at %d: full %v some %v", at, full, some)
			}
			continue
		}
		if full != (kid.full == ^uint64(0)) || some != (kid.some != 0) {
			t.Fatalf("child at %d: full %v some %v, but %x %x", at, full, some, kid.full, kid.some)
		}
		checkNode(t, b, kid, level-1, at)
	}
}

// Every size up to a few words and every index: small enough to try all.
func TestBitmapSmallSizesExhaustively(t *testing.T) {
	for size := uint64(1); size <= 200; size++ {
		b := NewBitmap(size)
		for i := range size {
			if next, ok := b.NextClear(0); !ok || next != i {
				t.Fatalf("size %d: next clear is %d %v, want %d", size, next, ok, i)
			}
			if !b.Set(i) || b.Set(i) {
				t.Fatalf("size %d: setting %d twice", size, i)
			}
		}
		if next, ok := b.NextClear(0); ok {
			t.Fatalf("size %d: full, but %d is clear", size, next)
		}
		for i := range size {
			if !b.Clear(i) || b.Clear(i) {
				t.Fatalf("size %d: clearing %d twice", size, i)
			}
			if next, ok := b.NextClear(0); !ok || next != i {
				t.Fatalf("size %d: after clearing %d next clear is %d %v", size, i, next, ok)
			}
			b.Set(i)
		}
	}
}

// The last clear index is found from wherever the search starts: the ends of words and of their summaries.
func TestTakeNextFindsTheLastOne(t *testing.T) {
	places := []uint64{0, 63, 64, 4095, 4096, 8191, 40_000, 61_439, 61_440, 65_535}
	for _, size := range [...]uint64{65_536, 65_536 + 100} { // flat, and a tree
		for _, open := range places {
			b := NewBitmap(size)
			b.SetRange(0, size-1)
			b.Clear(open)
			for _, from := range append(places, size, size<<10) {
				if have, ok := b.TakeNext(from); !ok || have != open {
					t.Fatalf("%s: took %d %v from %d, want %d", b, have, ok, from, open)
				}
				if have, ok := b.TakeNext(from); ok {
					t.Fatalf("%s: took %d twice", b, have)
				}
				b.Clear(open)
			}
		}
	}
}

func TestBitmapBeyondItsSize(t *testing.T) {
	for _, b := range [...]*Bitmap{{}, NewBitmap(0), NewBitmap(70)} {
		i := b.Size()
		if b.Set(i) || b.Clear(i) || b.Test(i) || b.SetRange(i, i+5) != 0 {
			t.Errorf("%s holds index %d", b, i)
		}
		b.SetRange(0, i)
		if taken, ok := b.TakeNext(0); ok {
			t.Errorf("%s is full and gave %d", b, taken)
		}
		b.ClearRange(0, i)
		if _, ok := b.NextClear(i); ok {
			t.Errorf("%s finds a clear index behind its end", b)
		}
	}
}
