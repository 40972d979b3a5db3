package nodeinit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
)

// SocketFile is the socket's name in the node's folder.
const SocketFile = "init.sock"

// Main takes orders on a socket until ctx ends. An empty socket takes none: the container just stands, for people.
func Main(ctx context.Context, socket string) error {
	if err := prepare(); err != nil {
		return err
	}
	// Whoever dies in the container leaves its children to this process, whether it is number 1 or not.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of orphans: %w", err)
	}
	go spawn.Reap(ctx)
	if socket == "" {
		<-ctx.Done()
		return nil
	}
	return listen(ctx, socket)
}

// listen serves a socket until ctx ends.
func listen(ctx context.Context, socket string) error {
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// The socket appears under its name when it has its permissions.
	young := socket + ".new"
	_ = os.Remove(young) // of a boot that was broken off
	l, err := net.Listen("unix", young)
	if err != nil {
		return err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	if err := errors.Join(os.Chmod(young, 0o600), os.Rename(young, socket)); err != nil {
		return errors.Join(err, l.Close())
	}
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		go serve(ctx, conn)
	}
}

// serve carries out one order.
func serve(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }() // what was to be said has been
	read := json.NewDecoder(conn)
	var o Order
	if read.Decode(&o) != nil {
		return
	}
	tell := func(a Answer) { _ = json.NewEncoder(conn).Encode(a) } // who does not listen any more is seen by reading
	switch {
	case o.Pod != "":
		path, err := createPod(o.Pod)
		if err != nil {
			tell(answerTo(err))
			return
		}
		tell(Answer{Path: path})
	case o.PodGone != "":
		if err := removePod(o.PodGone); err != nil {
			tell(answerTo(err))
			return
		}
		tell(Answer{})
	case o.Examine:
		tell(examine(ctx))
	case o.VPP != nil || o.Program != nil:
		run(ctx, o, read, tell)
	default:
		tell(Answer{Error: "an empty order"})
	}
}

func examine(ctx context.Context) Answer {
	binary, err := vppproc.Find("")
	if err != nil {
		return answerTo(err)
	}
	version, plugins, err := vppproc.Examine(ctx, binary)
	if err != nil {
		return answerTo(err)
	}
	return Answer{Binary: binary, Version: version, Plugins: plugins}
}

// process is one of ours.
type process interface {
	PID() int
	Done() <-chan struct{}
	Kill()
	Stop()
}

// run starts a process and does what is said about it until it has ended, or until nobody says anything any more.
func run(ctx context.Context, o Order, read *json.Decoder, tell func(Answer)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	words := make(chan word)
	go func() {
		defer close(words)
		kept := false
		for {
			var w word
			if read.Decode(&w) != nil {
				if !kept {
					cancel() // a start that nobody waits for is broken off
				}
				return
			}
			kept = kept || w == wordKeep
			select {
			case words <- w:
			case <-ctx.Done():
				return
			}
		}
	}()
	p, err := start(ctx, o)
	if err != nil {
		tell(answerTo(err))
		return
	}
	tell(Answer{PID: p.PID()})
	kept := false
	for {
		select {
		case w, ok := <-words:
			switch {
			case !ok && !kept:
				p.Kill()
				return
			case !ok:
				return
			case w == wordKeep:
				kept = true
			case w == wordKill:
				p.Kill()
			case w == wordStop:
				p.Stop()
			}
		case <-p.Done():
			tell(Answer{Ended: true})
			return
		}
	}
}

func start(ctx context.Context, o Order) (process, error) {
	if o.VPP != nil {
		cfg := *o.VPP
		if cfg.Binary == "" {
			var err error
			if cfg.Binary, err = vppproc.Find(""); err != nil {
				return nil, err
			}
		}
		return vppproc.Start(ctx, cfg)
	}
	argv := o.Program.Argv
	if len(argv) == 0 {
		return nil, errors.New("a program without a name")
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), o.Program.Env...)
	p, err := spawn.Start(spawn.Config{Cmd: cmd, Output: o.Program.Output})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	return p, nil
}
