package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"time"
)

// Reasons why Pool.Take cannot give an address. They come wrapped with address and prefix, as ErrOutside does.
var (
	ErrHeld     = errors.New("address is held")
	ErrReserved = errors.New("address is reserved")
	ErrCooling  = errors.New("address is cooling")
)

// PoolConfig describes a Pool.
type PoolConfig struct {
	// Prefix holds the pool's addresses. A Pool reaches the first 2^64-1 of them.
	Prefix netip.Prefix
	// Reserved addresses are never given out; those outside Prefix do not matter.
	Reserved []netip.Addr
	// After is the address behind which the first Allocate looks; the zero Addr starts at the network address.
	After netip.Addr
	// ReuseDelay is how long a released address cools: released at t, it is free again at t+ReuseDelay.
	// 0 frees at once. Times must lie between the years 1678 and 2262.
	ReuseDelay time.Duration
}

// Pool gives out the addresses of one prefix. Allocate goes on behind the address given last and wraps at the end, so
// a released address comes back as late as possible. Every address is free, held, cooling or reserved.
// Operations cost the levels of a Bitmap, plus log2 of the cooling addresses when there is a delay.
type Pool struct {
	prefix  netip.Prefix
	base    u128
	width   int
	taken   Bitmap // held, cooling or reserved
	off     Bitmap // cooling or reserved
	base32  uint32 // the base of an IPv4 pool
	v4      bool
	cursor  uint64 // index where the next search starts
	spare   uint64 // reserved
	delay   int64  // nanoseconds
	cooling coolingHeap
}

// NewPool returns a pool in which every address is free or reserved.
func NewPool(c PoolConfig) (*Pool, error) {
	prefix := Normal(c.Prefix)
	if !prefix.IsValid() {
		return nil, fmt.Errorf("pool: %w", errInvalid)
	}
	if c.ReuseDelay < 0 {
		return nil, fmt.Errorf("pool %s: reuse delay %s is negative", prefix, c.ReuseDelay)
	}
	size := Count(prefix)
	p := &Pool{
		prefix: prefix,
		base:   number(prefix.Addr()),
		width:  prefix.Addr().BitLen(),
		taken:  *NewBitmap(size),
		off:    *NewBitmap(size),
		delay:  int64(c.ReuseDelay),
	}
	p.v4, p.base32 = p.width == 32, uint32(p.base.lo)
	for _, a := range c.Reserved {
		p.Reserve(a)
	}
	if c.After.IsValid() {
		p.SetCursor(c.After)
	}
	return p, nil
}

// Prefix is the pool's prefix in normal form.
func (p *Pool) Prefix() netip.Prefix { return p.prefix }

// Capacity is how many addresses can be held at once: all but the reserved ones.
func (p *Pool) Capacity() uint64 { return p.taken.Size() - p.spare }

// Held is how many addresses are held.
func (p *Pool) Held() uint64 { return p.taken.Count() - p.off.Count() }

// Free is how many addresses Allocate could give at now.
func (p *Pool) Free(now time.Time) uint64 {
	p.expire(now)
	return p.taken.Size() - p.taken.Count()
}

// Holds reports whether a is held.
func (p *Pool) Holds(a netip.Addr) bool {
	i, ok := p.index(a)
	return ok && p.holds(i)
}

// Allocate takes the next free address behind the one given last; false when nothing is free at now.
func (p *Pool) Allocate(now time.Time) (netip.Addr, bool) {
	if len(p.cooling) != 0 {
		p.expire(now)
	}
	i, ok := p.taken.TakeNear(p.cursor)
	if !ok {
		if i, ok = p.taken.takeFar(p.cursor); !ok {
			return netip.Addr{}, false
		}
	}
	p.cursor = i + 1
	return p.addr(i), true
}

// Take takes exactly a and lets the next Allocate go on behind it. The error wraps ErrOutside, ErrHeld, ErrReserved or
// ErrCooling, and nothing has changed then.
func (p *Pool) Take(now time.Time, a netip.Addr) error {
	p.expire(now)
	i, err := p.takeable(a)
	if err != nil {
		return err
	}
	p.taken.Set(i)
	p.cursor = i + 1
	return nil
}

// Restore takes a as Take does, even when it is cooling, and leaves the cursor alone: for replaying what was decided
// before, or elsewhere.
func (p *Pool) Restore(a netip.Addr) error {
	i, err := p.takeable(a)
	if errors.Is(err, ErrCooling) {
		p.cooling.remove(i)
		p.off.Clear(i)
		err = nil
	}
	if err == nil {
		p.taken.Set(i)
	}
	return err
}

// Release gives a back at now; false and no change when a is not held.
func (p *Pool) Release(now time.Time, a netip.Addr) bool {
	if p.delay == 0 && p.v4 && a.Is4() {
		i := p.index4(a)
		return !p.off.testNear(i) && p.taken.ClearNear(i) || p.release(now, i)
	}
	i, ok := p.index(a)
	return ok && p.release(now, i)
}

// release is Release in all cases; i may be beyond the size.
func (p *Pool) release(now time.Time, i uint64) bool {
	if p.off.Test(i) {
		return false
	}
	if p.delay == 0 {
		return p.taken.clearFar(i)
	}
	if !p.taken.Test(i) {
		return false
	}
	p.off.Set(i)
	p.cooling.push(cooled{at: now.UnixNano(), index: i})
	return true
}

// Reserve takes a out of what can be given, for as long as the pool lives; a cooling address stops cooling. False and
// no change when a is held, reserved already or outside.
func (p *Pool) Reserve(a netip.Addr) bool {
	i, ok := p.index(a)
	if !ok || !p.taken.Set(i) && !p.cooling.remove(i) {
		return false
	}
	p.off.Set(i)
	p.spare++
	return true
}

// Cursor is the address behind which the next Allocate looks, if there is one.
func (p *Pool) Cursor() (netip.Addr, bool) {
	if p.cursor == 0 {
		return netip.Addr{}, false
	}
	return p.addr(p.cursor - 1), true
}

// SetCursor lets the next Allocate look behind a; an address outside the pool changes nothing.
func (p *Pool) SetCursor(a netip.Addr) {
	if i, ok := p.index(a); ok {
		p.cursor = i + 1
	}
}

// Leased yields the held addresses in ascending order.
func (p *Pool) Leased() iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		for i, ok := p.taken.NextSet(0); ok; i, ok = p.taken.NextSet(i + 1) {
			if !p.off.Test(i) && !yield(p.addr(i)) {
				return
			}
		}
	}
}

func (p *Pool) takeable(a netip.Addr) (uint64, error) {
	i, ok := p.index(a)
	var why error
	switch {
	case !ok:
		why = ErrOutside
	case !p.taken.Test(i):
		return i, nil
	case p.holds(i):
		why = ErrHeld
	case p.cooling.has(i):
		why = ErrCooling
	default:
		why = ErrReserved
	}
	return i, fmt.Errorf("%s in %s: %w", a, p.prefix, why)
}

func (p *Pool) holds(i uint64) bool { return p.taken.Test(i) && !p.off.Test(i) }

func (p *Pool) index(a netip.Addr) (uint64, bool) {
	if p.v4 && a.Is4() {
		i := p.index4(a)
		return i, i < p.taken.size
	}
	a = NormalAddr(a)
	if !p.prefix.Contains(a) {
		return 0, false
	}
	d := number(a).sub(p.base)
	return d.lo, d.hi == 0 && d.lo < p.taken.Size()
}

// index4 is the index of an IPv4 address, far above the size where it is below the base.
func (p *Pool) index4(a netip.Addr) uint64 {
	b := a.As4()
	return uint64(binary.BigEndian.Uint32(b[:]) - p.base32)
}

func (p *Pool) addr(i uint64) netip.Addr {
	if p.v4 {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], p.base32+uint32(i))
		return netip.AddrFrom4(b)
	}
	return address(p.base.or(u128{0, i}), p.width)
}
