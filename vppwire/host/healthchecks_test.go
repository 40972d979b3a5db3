package host

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/service"
)

// Goal: a load balancer hears of a service what is so now, hears nothing of one that is gone, and hears of one whose port
// another program had as soon as that is gone. Method: real listeners of this machine, at ports of its own choice.
func TestHealthChecks(t *testing.T) {
	at := map[string]net.Listener{}
	busy := false
	var c healthChecks
	c.init(func(network, address string) (net.Listener, error) {
		if busy {
			return nil, errors.New("address already in use")
		}
		l, err := net.Listen(network, "127.0.0.1:0")
		at[address] = l
		return l, err
	}, slog.New(slog.DiscardHandler))
	ask := func(port string) string {
		r, err := http.Get("http://" + at[port].Addr().String() + "/whatever")
		if err != nil {
			return "no answer"
		}
		defer r.Body.Close()
		body, _ := io.ReadAll(r.Body)
		return strings.Join([]string{r.Status, r.Header.Get("Content-Type"), r.Header.Get("X-Load-Balancing-Endpoint-Weight"), strings.TrimSpace(string(body))}, "; ")
	}
	web := service.Name{Namespace: "default", Name: "web"}
	expect := func(port, want string) {
		t.Helper()
		if got := ask(port); got != want {
			t.Errorf("%s answers %q, not %q", port, got, want)
		}
	}
	c.set([]service.Health{{Name: web, Port: 31000, Local: 2}})
	expect(":31000", `200 OK; application/json; 2; {"service": {"namespace": "default", "name": "web"}, "localEndpoints": 2, "serviceProxyHealthy": true}`)
	first := at[":31000"]
	c.set([]service.Health{{Name: web, Port: 31000}})
	expect(":31000", `503 Service Unavailable; application/json; 0; {"service": {"namespace": "default", "name": "web"}, "localEndpoints": 0, "serviceProxyHealthy": true}`)
	if at[":31000"] != first {
		t.Error("a change of what is answered opened the port again")
	}
	busy = true
	c.set([]service.Health{{Name: web, Port: 31001, Local: 1}})
	expect(":31000", "no answer")
	busy = false
	c.set([]service.Health{{Name: web, Port: 31001, Local: 1}})
	expect(":31001", `200 OK; application/json; 1; {"service": {"namespace": "default", "name": "web"}, "localEndpoints": 1, "serviceProxyHealthy": true}`)
	c.set(nil)
	expect(":31001", "no answer")
}

// Goal: a port that another program has is tried again until it can be had, and not beyond. Method: a clock of its own.
func TestHealthChecksWaitForTheirPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tried := 0
		var c healthChecks
		c.init(func(string, string) (net.Listener, error) { tried++; return nil, errors.New("address already in use") }, slog.New(slog.DiscardHandler))
		c.set([]service.Health{{Port: 31000}, {Port: 31001}})
		time.Sleep(2*healthRetry + time.Second)
		synctest.Wait()
		if tried != 6 {
			t.Errorf("two ports were tried %d times in all, not 3 times each", tried)
		}
		c.set(nil)
		time.Sleep(3 * healthRetry)
		if tried != 6 {
			t.Error("a port that nobody wants is tried")
		}
	})
}
