package cilium

import (
	"errors"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Errors of expiration timers.
var (
	errTimerExists   = errors.New("expiration timer already registered")
	errNoTimer       = errors.New("no expiration timer registered")
	errUUIDMismatch  = errors.New("UUID mismatch, not stopping expiration timer")
	errTimerDuration = errors.New("expiration timeout is negative")
)

// expiration is what is known about a running timer.
type expiration struct {
	uuid    string
	timeout time.Duration
}

// StartExpirationTimer releases ip once timeout has passed, unless StopExpirationTimer is called before with the UUID
// that is returned, or ip is released. It does not check that ip is allocated; when it is allocated later, the timer is
// over. Advance does the work.
func (ipam *IPAM) StartExpirationTimer(ip netip.Addr, timeout time.Duration) (string, error) {
	defer ipam.lock()()
	return ipam.startTimer(ip, timeout)
}

func (ipam *IPAM) startTimer(ip netip.Addr, timeout time.Duration) (string, error) {
	ip = space.NormalAddr(ip)
	switch {
	case !ip.IsValid():
		return "", InvalidIPError{Text: ip.String()}
	case timeout < 0:
		return "", errTimerDuration
	case ipam.timers.has(ip):
		return "", errTimerExists
	}
	x := expiration{uuid: ipam.newUUID(), timeout: timeout}
	ipam.expirations[ip] = x
	ipam.timers.start(ip, ipam.now().Add(timeout))
	return x.uuid, nil
}

// StopExpirationTimer ends the timer of ip; allocationUUID must be what StartExpirationTimer returned for it, so that a
// late caller cannot end the timer of the address's next user.
func (ipam *IPAM) StopExpirationTimer(ip netip.Addr, allocationUUID string) error {
	defer ipam.lock()()
	ip = space.NormalAddr(ip)
	switch {
	case !ipam.timers.has(ip):
		return errNoTimer
	case ipam.expirations[ip].uuid != allocationUUID:
		return errUUIDMismatch
	}
	ipam.stopTimer(ip)
	return nil
}

// NextExpiry is when the next timer ends, if there is one.
func (ipam *IPAM) NextExpiry() (time.Time, bool) {
	defer ipam.lock()()
	return ipam.timers.next()
}

func (ipam *IPAM) stopTimer(ip netip.Addr) {
	ipam.timers.stop(ip)
	delete(ipam.expirations, ip)
}

// Expiry is what Advance did about one timer.
type Expiry struct {
	IP    netip.Addr
	Owner string
	UUID  string
	// Err says why the allocator refused the release; the timer then runs for its timeout again.
	Err error
}

// Advance moves the clock to now and releases every address whose timer ended at or before then, earliest first.
func (ipam *IPAM) Advance(now time.Time) []Expiry {
	defer ipam.lock()()
	if now.After(ipam.clock) {
		ipam.clock = now
	}
	var done []Expiry
	for ip, ok := ipam.timers.due(now); ok; ip, ok = ipam.timers.due(now) {
		done = append(done, Expiry{IP: ip, UUID: ipam.expirations[ip].uuid, Owner: ipam.owner[ip]})
	}
	for i := range done {
		e := &done[i]
		if e.Err = ipam.release(e.IP); e.Err != nil {
			ipam.timers.start(e.IP, now.Add(ipam.expirations[e.IP].timeout))
		}
	}
	return done
}

func (ipam *IPAM) now() time.Time {
	if ipam.cfg.Now != nil {
		return ipam.cfg.Now()
	}
	return ipam.clock
}

// newUUID draws a version 4 UUID unless the configuration brings its own source.
func (ipam *IPAM) newUUID() string {
	if ipam.cfg.NewUUID != nil {
		return ipam.cfg.NewUUID()
	}
	const digits = "0123456789abcdef"
	var id [16]byte
	for i := 0; i < len(id); i += 2 {
		n := ipam.cfg.Pick.Pick(pickUUID, 1<<16)
		id[i], id[i+1] = byte(n>>8), byte(n)
	}
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	text := make([]byte, 0, 36)
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text = append(text, '-')
		}
		text = append(text, digits[b>>4], digits[b&15])
	}
	return string(text)
}
