package relay_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/relay"
)

// echo answers each line with the same line.
func echo(t *testing.T, path string) {
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
}

// Goal: a cut holds bytes back, a mended link delivers them all in order, in each direction by itself; a reset ends
// connections and takes new ones. Method: lines through an echo; what must not come is given a short while to come.
func TestCutAndMend(t *testing.T) {
	dir := t.TempDir()
	echo(t, filepath.Join(dir, "echo"))
	r, err := relay.Listen(filepath.Join(dir, "relay"), filepath.Join(dir, "echo"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	dial := func() (net.Conn, chan string) {
		c, err := net.Dial("unix", filepath.Join(dir, "relay"))
		if err != nil {
			t.Fatal(err)
		}
		lines := make(chan string, 100)
		go func() {
			for in := bufio.NewScanner(c); in.Scan(); {
				lines <- in.Text()
			}
			close(lines)
		}()
		return c, lines
	}
	c, lines := dial()
	n := 0
	say := func() {
		n++
		if _, err := fmt.Fprintf(c, "line %d\n", n); err != nil {
			t.Fatal(err)
		}
	}
	say()
	if got := <-lines; got != "line 1" {
		t.Fatal(got)
	}
	for _, links := range [][2]relay.Link{{{Cut: true}, {}}, {{}, {Cut: true}}, {{Cut: true}, {Cut: true}}} {
		r.Set(links[0], links[1])
		first := n + 1
		say()
		say()
		select {
		case got := <-lines:
			t.Fatalf("%v: %q came through a cut", links, got)
		case <-time.After(20 * time.Millisecond):
		}
		r.Set(relay.Link{}, relay.Link{})
		for i := first; i <= n; i++ {
			if got := <-lines; got != fmt.Sprintf("line %d", i) {
				t.Fatalf("%v: %q, want line %d", links, got, i)
			}
		}
	}
	r.Set(relay.Link{Delay: time.Millisecond, Loss: 0.01}, relay.Link{Delay: time.Millisecond})
	first := n + 1
	for range 20 {
		say()
	}
	for i := first; i <= n; i++ {
		if got := <-lines; got != fmt.Sprintf("line %d", i) {
			t.Fatalf("late: %q, want line %d", got, i)
		}
	}
	r.Reset()
	if _, open := <-lines; open {
		t.Fatal("a reset left the connection open")
	}
	c, lines = dial()
	say()
	if got := <-lines; got != fmt.Sprintf("line %d", n) {
		t.Fatal(got)
	}
}
