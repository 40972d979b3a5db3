package spawn

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ID tells one process from every other one since the machine's boot: its number and when it started, in clock ticks
// since the boot. The zero ID is no process.
type ID struct {
	PID     int
	Started uint64
}

// String is "4711 123456", which ParseID reads back.
func (id ID) String() string { return strconv.Itoa(id.PID) + " " + strconv.FormatUint(id.Started, 10) }

// ParseID reads what String wrote.
func ParseID(text string) (ID, error) {
	pid, started, ok := strings.Cut(strings.TrimSpace(text), " ")
	n := number(pid)
	s, err := strconv.ParseUint(started, 10, 64)
	if !ok || n == 0 || err != nil || started != strconv.FormatUint(s, 10) {
		return ID{}, fmt.Errorf("%q is no process's identity", text)
	}
	return ID{PID: n, Started: s}, nil
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || text != strconv.Itoa(n) {
		return 0
	}
	return n
}

// Self is this process.
func Self() ID {
	id, err := Identify(os.Getpid())
	if err != nil {
		return ID{PID: os.Getpid()} // without /proc nobody can tell processes apart, and no lab runs
	}
	return id
}

// Identify reads the identity of a process that lives.
func Identify(pid int) (ID, error) {
	id, state, err := identify(pid)
	if err == nil && state == "Z" {
		err = os.ErrProcessDone
	}
	return id, err
}

// identify also knows a process that has ended and that nobody has waited for.
func identify(pid int) (id ID, state string, err error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ID{}, "", err
	}
	started, state, err := parseStat(string(stat))
	return ID{PID: pid, Started: started}, state, err
}

// parseStat finds the state and field 22, the start time.
func parseStat(stat string) (started uint64, state string, err error) {
	fields := statFields(stat)
	const startTime = 22 - 3 // counted from field 3, the state
	if len(fields) <= startTime {
		return 0, "", errors.New("/proc/PID/stat is too short")
	}
	started, err = strconv.ParseUint(fields[startTime], 10, 64)
	return started, fields[0], err
}

// statFields are the fields behind the name, which may hold anything (proc_pid_stat(5)): the state, the parent, and so
// on. Without a name there are none.
func statFields(stat string) []string {
	i := strings.LastIndexByte(stat, ')')
	if i < 0 {
		return nil
	}
	return strings.Fields(stat[i+1:])
}

// Alive reports whether the process lives.
func (id ID) Alive() bool {
	now, err := Identify(id.PID)
	return err == nil && id.PID != 0 && now == id
}

// Kill ends the process and waits until it is gone; a process that is gone already is fine.
func (id ID) Kill() error {
	for i := 0; id.Alive(); i++ {
		if i%100 == 0 {
			if err := syscall.Kill(id.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("kill process %d: %w", id.PID, err)
			}
		}
		if i == 1000 {
			return fmt.Errorf("process %d does not end", id.PID)
		}
		time.Sleep(5 * time.Millisecond) // the process is not ours to wait for
	}
	return nil
}

// Recorded reads the identity in a record; the zero ID where there is none or it cannot be read.
func Recorded(file string) ID {
	text, err := os.ReadFile(file)
	if err != nil {
		return ID{}
	}
	id, err := ParseID(string(text))
	if err != nil {
		return ID{}
	}
	return id
}
