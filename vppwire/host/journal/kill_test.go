package journal

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// victimEnv makes this test binary the process that writes and is killed: its value is the journal's path.
const victimEnv = "VPPDRILL_JOURNAL_VICTIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(victimEnv); path != "" {
		victim(path)
		return
	}
	os.Exit(m.Run())
}

// victim appends numbered records for ever, several at a time, now and then rewrites the file to one record that stands
// for all before, and prints each number when it is told durable.
func victim(path string) {
	j, records, err := Open(path)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	_, last, err := span(records)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var mu sync.Mutex
	out := bufio.NewWriter(os.Stdout)
	inFlight := make(chan struct{}, 8)
	for n := last + 1; ; n++ {
		inFlight <- struct{}{}
		done := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				fmt.Fprintln(out, "error", err)
			} else {
				fmt.Fprintln(out, n)
			}
			_ = out.Flush()
			<-inFlight
		}
		if n%37 == 0 {
			j.Replace([]agent.Record{{Kind: agent.RecordBoot, Boot: strconv.Itoa(n)}}, done)
		} else {
			j.Append([]agent.Record{lease(n), sandbox(n)}, done)
		}
	}
}

// span is the first and the last number that records stand for; an error where one is missing.
func span(records []agent.Record) (first, last int, err error) {
	for i := 0; i < len(records); i++ {
		r := records[i]
		if r.Kind == agent.RecordBoot {
			if i > 0 {
				return 0, 0, errors.New("a rewriting is not at the start")
			}
			n, err := strconv.Atoi(r.Boot)
			if err != nil {
				return 0, 0, err
			}
			first, last = n+1, n
			continue
		}
		if want := lease(last + 1).String(); r.String() != want {
			return 0, 0, fmt.Errorf("record %d is %s, want %s", i, r, want)
		}
		i++
		if i == len(records) || records[i].String() != sandbox(last+1).String() {
			return 0, 0, fmt.Errorf("half of write %d", last+1)
		}
		last++
	}
	return first, last, nil
}

// Goal: whatever was told durable is there after kill -9 at any instant, whole writes only. Method: kill a writing
// process after a random number of its answers, which is a random instant of its next writes; VPPDRILL_KILLS says how
// often.
func TestKill(t *testing.T) {
	kills := 20
	if text := os.Getenv("VPPDRILL_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("VPPDRILL_KILLS: %v", err)
		}
		kills = n
	}
	path := filepath.Join(t.TempDir(), "journal")
	random := rand.New(rand.NewPCG(1, uint64(kills)))
	for kill := range kills {
		told := killed(t, path, 1+random.IntN(200))
		j, records, err := Open(path)
		must(t, err)
		_, last, err := span(records)
		if err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		if last < told || j.Found().Damage != nil {
			t.Fatalf("kill %d: told %d, found up to %d, %+v", kill, told, last, j.Found())
		}
		must(t, j.Close())
	}
}

// killed runs a victim, kills it after so many answers, and returns the last number that it was told durable.
func killed(t *testing.T, path string, answers int) (told int) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		number, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Errorf("the victim says %q", lines.Text())
			break
		}
		told = number
		if n == answers {
			must(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	return told
}
