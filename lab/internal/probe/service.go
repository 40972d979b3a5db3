package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Echo is an endpoint of a service: it answers whoever asks it with its own address, until it is closed.
type Echo struct {
	tcp net.Listener
	udp *net.UDPConn
	wg  sync.WaitGroup
}

// StartEcho has a place answer at its address and a port. network is "tcp4" or "udp4".
func StartEcho(at Place, network string, port uint16) (*Echo, error) {
	e := &Echo{}
	me := netip.AddrPortFrom(at.Addr, port)
	if err := spawn.Inside(at.Netns, func() (err error) {
		if network == "udp4" {
			e.udp, err = net.ListenUDP(network, net.UDPAddrFromAddrPort(me))
			return err
		}
		e.tcp, err = (&net.ListenConfig{}).Listen(context.Background(), network, me.String())
		return err
	}); err != nil {
		return nil, fmt.Errorf("endpoint %s of %s: %w", me, at.Name, err)
	}
	e.wg.Go(func() { e.answer(at.Addr.String()) })
	return e, nil
}

func (e *Echo) answer(me string) {
	if e.tcp != nil {
		for {
			c, err := e.tcp.Accept()
			if err != nil {
				return // closed
			}
			_, _ = c.Write([]byte(me)) // the client notices
			_ = c.Close()
		}
	}
	var b [64]byte
	for {
		_, from, err := e.udp.ReadFromUDPAddrPort(b[:])
		if err != nil {
			return // closed
		}
		_, _ = e.udp.WriteToUDPAddrPort([]byte(me), from) // the client asks again
	}
}

// Close ends the answers.
func (e *Echo) Close() {
	if e.tcp != nil {
		_ = e.tcp.Close() // ends Accept
	} else {
		_ = e.udp.Close() // ends the read
	}
	e.wg.Wait()
}

// WhoServes opens one session with a service and returns which Echo has answered.
func WhoServes(ctx context.Context, from Place, network string, at netip.AddrPort, patience time.Duration) (netip.Addr, error) {
	c, err := dial(ctx, from.Netns, net.Dialer{Timeout: patience}, network, at.String())
	if err != nil {
		return netip.Addr{}, err
	}
	defer func() { _ = c.Close() }() // everything has been said
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return netip.Addr{}, err
	}
	if network == "udp4" {
		if _, err := c.Write([]byte("?")); err != nil {
			return netip.Addr{}, err
		}
	}
	var b [64]byte
	n, err := c.Read(b[:])
	if err != nil {
		return netip.Addr{}, err
	}
	who, err := netip.ParseAddr(string(b[:n]))
	if err != nil {
		return netip.Addr{}, errors.New("it answers " + strconv.Quote(string(b[:n])))
	}
	return who, nil
}

// LocalEndpoints asks a node as load balancers do, and returns how many endpoints of a service it says it has. The status
// has to say the same.
func LocalEndpoints(ctx context.Context, from Place, at netip.AddrPort, patience time.Duration) (int, error) {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return dial(ctx, from.Netns, net.Dialer{Timeout: patience}, network, address)
	}}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at.String()+"/healthz", nil)
	if err != nil {
		return 0, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }() // everything has been said
	var body struct {
		LocalEndpoints int `json:"localEndpoints"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<12)).Decode(&body); err != nil {
		return 0, err
	}
	if ok := answer.StatusCode == http.StatusOK; ok != (body.LocalEndpoints > 0) {
		return 0, fmt.Errorf("it answers %s with %d endpoints", answer.Status, body.LocalEndpoints)
	}
	return body.LocalEndpoints, nil
}
