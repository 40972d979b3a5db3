package experiment

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/vppwire/filelock"
)

// Run is one finished run as a Store keeps it. Nothing in it depends on the machine.
type Run struct {
	// Key names the scenario's text, without its comments.
	Key     string         `json:"key"`
	Seed    uint64         `json:"seed"`
	Verdict result.Verdict `json:"verdict"`
	Error   string         `json:"error,omitempty"`
	Digest  string         `json:"digest"`
	Figures Figures        `json:"figures"`
	Series  *result.Series `json:"series,omitempty"`
}

// runKey is what a run is known by.
type runKey struct {
	key  string
	seed uint64
}

// KeyOf names a scenario's text.
func KeyOf(s *scenarios.Scenario) string {
	bare := *s
	bare.Goal, bare.Notes, bare.File = "", nil, ""
	sum := sha256.Sum256(bare.Marshal())
	return hex.EncodeToString(sum[:12])
}

// storeFormat is the first line's word for how lines are written.
const storeFormat = "vppdrill-experiment/1"

// StoreFile is the store's name in a folder of results.
const StoreFile = "runs.jsonl"

type storeHead struct {
	Store   string `json:"store"`
	Version string `json:"version"`
}

// Store keeps finished runs in a file, one line each, and is safe for concurrent use. A line is written in one call when its run is
// over: a process that is killed leaves at most one line without its end, which is cut off when the store is opened again.
type Store struct {
	mu   sync.Mutex
	file *os.File
	runs map[runKey]*Run
}

// OpenStore opens, or makes, the store in a folder for a version of the program. It refuses one of another version, one that another
// process has open, and a file that is no store, and changes none of them.
func OpenStore(dir, version string) (*Store, error) {
	name := filepath.Join(dir, StoreFile)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	s, err := openStore(file, version)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
	}
	return s, nil
}

func openStore(file *os.File, version string) (*Store, error) {
	if err := filelock.Try(file); err != nil {
		return nil, errors.New("another process has this store open")
	}
	head, runs, end, err := readStore(file)
	switch {
	case err != nil:
		return nil, err
	case head == nil:
		line, err := json.Marshal(storeHead{storeFormat, version})
		if err != nil {
			return nil, err
		}
		if err := file.Truncate(0); err != nil {
			return nil, err
		}
		if _, err := file.WriteAt(append(line, '\n'), 0); err != nil {
			return nil, err
		}
		end = int64(len(line)) + 1
	case head.Version != version:
		return nil, fmt.Errorf("its runs are of version %s and this is %s; give another --out, and compare them by against", head.Version, version)
	default:
		if err := file.Truncate(end); err != nil {
			return nil, err
		}
	}
	if _, err := file.Seek(end, io.SeekStart); err != nil {
		return nil, err
	}
	return &Store{file: file, runs: runs}, nil
}

// ReadStore reads the runs in a folder, of any version.
func ReadStore(dir string) (map[runKey]*Run, error) {
	name := filepath.Join(dir, StoreFile)
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no results of an experiment", dir)
	}
	if err != nil {
		return nil, err
	}
	head, runs, _, err := readStore(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if head == nil {
		return nil, fmt.Errorf("%s is empty", name)
	}
	return runs, nil
}

// readStore reads whole lines; end is where they end. head is nil of an empty file.
func readStore(r io.Reader) (head *storeHead, runs map[runKey]*Run, end int64, err error) {
	runs = map[runKey]*Run{}
	in := bufio.NewReaderSize(r, 1<<20)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF { // what is behind the last end of a line was cut off
			if number == 1 && len(line) > 0 && !bytes.HasPrefix([]byte(`{"store":"`+storeFormat), line[:min(len(line), 10)]) {
				return nil, nil, 0, errors.New("is no store of an experiment")
			}
			return head, runs, end, nil
		}
		if err != nil {
			return nil, nil, 0, err
		}
		if number == 1 {
			head = &storeHead{}
			if json.Unmarshal(line, head) != nil || head.Store != storeFormat {
				return nil, nil, 0, errors.New("is no store of an experiment")
			}
		} else {
			run := &Run{}
			if err := json.Unmarshal(line, run); err != nil {
				return nil, nil, 0, errors.New("line " + strconv.Itoa(number) + " is damaged")
			}
			runs[runKey{run.Key, run.Seed}] = run
		}
		end += int64(len(line))
	}
}

// Has finds a run.
func (s *Store) Has(key string, seed uint64) (*Run, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.runs[runKey{key, seed}]
	return r, ok
}

// Keep adds a run, on the disk when it returns as far as a process can be killed.
func (s *Store) Keep(r *Run) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("keep a run: %w", err)
	}
	s.runs[runKey{r.Key, r.Seed}] = r
	return nil
}

// Close ends it, with everything on the disk.
func (s *Store) Close() error { return errors.Join(s.file.Sync(), s.file.Close()) }
