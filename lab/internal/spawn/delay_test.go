package spawn

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Goal: a process that gets no processor is told by its delay, and one that has nothing to do is not. Method: two
// programs that count for ever share one processor, of which one may run only when nothing else wants to; a third one
// sleeps.
func TestDelay(t *testing.T) {
	for text, want := range map[string][2]int64{"5 7 2\n": {7, 2}, "": {}, "5 x 2": {}} {
		if waited, slices := parseDelay(text); int64(waited) != want[0] || slices != want[1] {
			t.Errorf("%q: %d, %d", text, waited, slices)
		}
	}
	start := func(argv ...string) int {
		p, err := Start(Config{Cmd: exec.Command(argv[0], argv[1:]...)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p.PID()
	}
	const counts = "while :; do :; done"
	starved, fed, idle := start("sh", "-c", counts), start("sh", "-c", counts), start("sleep", "60")
	var one, may unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		t.Fatal(err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if may.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	for _, pid := range []int{starved, fed} {
		if err := unix.SchedSetaffinity(pid, &one); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.SchedSetAttr(starved, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		t.Fatal(err)
	}
	delays := map[int]*Delay{starved: DelayOf(starved), idle: DelayOf(idle)}
	waited := map[int]time.Duration{}
	begin := map[int]time.Duration{}
	for i := range 11 {
		for pid, d := range delays {
			waited[pid] = d.Until(time.Now())
			if i == 0 {
				begin[pid] = waited[pid]
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	if w := waited[starved] - begin[starved]; w < time.Second/2 {
		t.Errorf("a process that got no processor for a second has waited %s", w)
	}
	if w := waited[idle] - begin[idle]; w > time.Second/2 {
		t.Errorf("a process that sleeps has waited %s", w)
	}
}
