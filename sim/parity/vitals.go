package parity

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"go.fd.io/govpp/binapi/vlib"
)

// Vitals are what a VPP holds for itself. VPP reports its heap in steps of 10 KB.
type Vitals struct {
	Heap        int64 `json:"heap"`        // bytes of the main heap
	Buffers     int   `json:"buffers"`     // packet buffers in use
	Descriptors int   `json:"descriptors"` // open files
}

var (
	heapUsed    = regexp.MustCompile(`used: ([0-9.]+)([KMG]?),`)
	buffersUsed = regexp.MustCompile(`(?m)^default-numa-0 .*[^0-9]([0-9]+) *$`)
)

// errVitals: VPP's command line says something else than it did in 25.10.
var errVitals = errors.New("VPP does not say what it uses")

// vitals asks VPP and Linux.
func (h *hunted) vitals(ctx context.Context) (v Vitals, err error) {
	heap, err := h.command(ctx, "show memory main-heap")
	if err != nil {
		return v, err
	}
	if v.Heap, err = parseHeap(heap); err != nil {
		return v, err
	}
	buffers, err := h.command(ctx, "show buffers")
	if err != nil {
		return v, err
	}
	m := buffersUsed.FindStringSubmatch(buffers)
	if m == nil {
		return v, fmt.Errorf("%w: %q", errVitals, buffers)
	}
	if v.Buffers, err = strconv.Atoi(m[1]); err != nil {
		return v, err
	}
	open, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(h.p.cmd.Process.Pid), "fd"))
	v.Descriptors = len(open)
	return v, err
}

// parseHeap reads "used: 39.16M" in what shows a heap, as bytes.
func parseHeap(text string) (int64, error) {
	m := heapUsed.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%w: %q", errVitals, text)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return int64(n * map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[m[2]]), err
}

// command runs one line of VPP's command line.
func (h *hunted) command(ctx context.Context, line string) (string, error) {
	var reply vlib.CliInbandReply
	err := h.ask(ctx, &vlib.CliInband{Cmd: line}, &reply)
	return reply.Reply, err
}
