package parity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.fd.io/govpp/adapter/socketclient"
	"go.fd.io/govpp/core"

	"github.com/vppdrill/vppdrill/sim/parity/internal/transcript"
)

// startMax is how long VPP may take until it answers.
const startMax = 20 * time.Second

// ErrNoVPP says that no VPP was found.
var ErrNoVPP = errors.New("no VPP found: give --vpp PATH or set VPPDRILL_VPP, or install it to PATH or /opt/*/bin")

// FindVPP returns the path of the VPP to run: asked, the environment's VPPDRILL_VPP, PATH, /usr/bin/vpp,
// /opt/*/bin/vpp.
func FindVPP(asked string) (string, error) {
	for _, given := range []string{asked, os.Getenv("VPPDRILL_VPP")} {
		if given == "" {
			continue
		}
		if at, err := os.Stat(given); err != nil || at.IsDir() || at.Mode()&0o111 == 0 {
			return "", fmt.Errorf("%s is no program", given)
		}
		return filepath.Abs(given)
	}
	if path, err := exec.LookPath("vpp"); err == nil {
		return path, nil
	}
	installed, _ := filepath.Glob("/opt/*/bin/vpp")
	for _, path := range append([]string{"/usr/bin/vpp"}, installed...) {
		if at, err := os.Stat(path); err == nil && at.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", ErrNoVPP
}

// process is one running VPP with a connection to it.
type process struct {
	cmd  *exec.Cmd
	dir  string
	in   *testbed
	out  bytes.Buffer
	conn *core.Connection
	gone context.Context // done when the process has ended
}

// startup is VPP's configuration: no NICs, no hugepages, and a thread that sleeps when it has nothing to do.
const startup = `unix { nodaemon nosyslog nobanner runtime-dir DIR cli-listen DIR/cli.sock poll-sleep-usec 100 }
api-segment { prefix NAME }
socksvr { socket-name DIR/api.sock }
statseg { socket-name DIR/stats.sock size 16M }
buffers { page-size default buffers-per-numa 4096 }
memory { main-heap-size HEAP main-heap-page-size default }
plugins { plugin dpdk_plugin.so { disable } }
`

// folders is the prefix of the folders of VPPs; the PID of their maker follows.
const folders = transcript.Folders

// sweep removes folders whose makers were killed. Their VPPs ended with them.
func sweep() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), folders+"*"))
	for _, dir := range left {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), folders), "-")
		if n, err := strconv.Atoi(pid); err == nil && ended(n) {
			remove(dir)
		}
	}
}

// remove removes a VPP's folder, and the shared memory that it leaves behind when it is killed.
func remove(dir string) {
	memory, _ := filepath.Glob("/dev/shm/" + filepath.Base(dir) + "-*")
	for _, name := range memory {
		os.Remove(name)
	}
	os.RemoveAll(dir)
}

// Heaps of VPPs: those that are compared with the model hold little and start quickly with a small one, those that are
// loaded get VPP's own default.
const (
	comparedHeap = "192M"
	huntedHeap   = "1G"
)

// start runs VPP in the testbed and waits until it answers.
func start(ctx context.Context, r *testbed, path, heap string) (*process, error) {
	dir, err := os.MkdirTemp("", folders+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, err
	}
	p := &process{dir: dir, in: r}
	conf := strings.NewReplacer("DIR", dir, "NAME", filepath.Base(dir), "HEAP", heap).Replace(startup)
	if err = os.WriteFile(filepath.Join(dir, "startup.conf"), []byte(conf), 0o600); err == nil {
		err = r.do(func() error { return p.run(path) })
	}
	if err != nil {
		remove(dir)
		return nil, err
	}
	if err := p.connect(ctx); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *process) run(path string) error {
	p.cmd = exec.Command(path, "-c", filepath.Join(p.dir, "startup.conf"))
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = diesWithUs()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	gone, end := context.WithCancel(context.Background())
	p.gone = gone
	go func() {
		_ = p.cmd.Wait() // how it ended shows in its output
		end()
	}()
	return nil
}

func (p *process) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startMax)
	defer cancel()
	for {
		conn, err := core.Connect(socketclient.NewVppClient(filepath.Join(p.dir, "api.sock")))
		if err == nil {
			p.conn = conn
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("VPP does not answer: %w", err)
		case <-p.gone.Done():
			return fmt.Errorf("VPP ended at its start: %s", p.lastLine())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// lastLine is what VPP said last.
func (p *process) lastLine() string {
	lines := strings.Split(strings.TrimSpace(p.out.String()), "\n")
	return lines[len(lines)-1]
}

// end says how a VPP that does not answer ended, in its own words: the signal, and the functions that it was in,
// innermost first. One that takes longer than endMax to end hangs.
func (p *process) end() string {
	select {
	case <-p.gone.Done():
	case <-time.After(endMax):
		return "does not answer"
	}
	return crashReport(p.out.String())
}

// crashReport finds a death in what VPP wrote.
func crashReport(out string) string {
	var where []string
	signal := ""
	for line := range strings.Lines(out) {
		words := strings.Fields(escapes.ReplaceAllString(line, ""))
		for i, w := range words {
			if w == "signal" && i+1 < len(words) {
				signal, where = strings.TrimSuffix(words[i+1], ","), nil
			}
		}
		if len(words) > 2 && strings.HasPrefix(words[0], "#") && strings.HasPrefix(words[1], "0x") {
			where = append(where, words[2])
		}
	}
	if signal == "" {
		return "died"
	}
	return "died of " + signal + " in " + strings.Join(where[:min(len(where), framesShown)], " < ")
}

// endMax is how long VPP may take to write down where it was when it died.
const endMax = 2 * time.Second

// framesShown is how many functions are named: enough to distinguish deaths.
const framesShown = 8

// escapes are the colours of VPP's messages.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// stop ends the process and removes its folder.
func (p *process) stop() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.gone.Done()
	if p.conn != nil {
		p.conn.Disconnect()
	}
	remove(p.dir)
}
