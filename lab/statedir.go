package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// StateDir is one lab's entry in the folder of all labs: what a later command knows of it.
type StateDir struct {
	ID      string    `json:"id"`
	Backend string    `json:"backend"`
	Created time.Time `json:"created"`
	// Owner is the process that the lab lives as long as.
	Owner string `json:"owner"`
	// Kept: the lab's owner has left it up on purpose; only down ends it.
	Kept bool `json:"kept,omitempty"`
	// Scenario is the name of what runs in it, File where it came from.
	Scenario string `json:"scenario,omitempty"`
	File     string `json:"file,omitempty"`

	dir string
}

// Dir is the lab's folder.
func (h StateDir) Dir() string { return h.dir }

// Alive reports whether the lab's owner lives.
func (h StateDir) Alive() bool {
	id, err := spawn.ParseID(h.Owner)
	return err == nil && id.Alive()
}

// Control is the path of the socket on which the owner of a standing lab takes orders.
func (h StateDir) Control() string { return filepath.Join(h.dir, "control.sock") }

const stateFile = "lab.json"

var validID = regexp.MustCompile(`^[a-z0-9]{1,8}$`)

// ValidID reports whether a lab can be called so: one to eight lower case letters and digits, so that names made of it
// fit where Linux wants short ones.
func ValidID(id string) bool { return validID.MatchString(id) }

// claim makes a lab's folder, which nobody else gets. An empty id takes a free one.
func claim(root, id, backend string) (StateDir, error) {
	root, err := filepath.Abs(root) // others read it from other folders
	if err != nil {
		return StateDir{}, fmt.Errorf("labs' folder: %w", err)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return StateDir{}, fmt.Errorf("labs' folder: %w", err)
	}
	h := StateDir{Backend: backend, Created: time.Now().UTC(), Owner: spawn.Self().String()}
	for try := 0; ; try++ {
		h.ID = id
		if id == "" {
			h.ID = fmt.Sprintf("%04x", (uint32(os.Getpid())*2654435761+uint32(try)*40503+uint32(h.Created.UnixNano()>>16))&0xffff)
		}
		h.dir = filepath.Join(root, h.ID)
		err := h.register()
		if err == nil {
			if err = os.Mkdir(h.dir, 0o755); err != nil {
				_ = os.Remove(registered(h.ID)) // made just now
			}
		}
		switch {
		case err == nil:
			return h, h.save()
		case !errors.Is(err, fs.ErrExist):
			return StateDir{}, fmt.Errorf("lab's folder: %w", err)
		case id != "" || try == 1000:
			return StateDir{}, fmt.Errorf("there is a lab %s already", h.ID)
		}
	}
}

// registry has an entry for each lab of this machine, whatever folder it is in, so that the census of one folder leaves
// the labs of another alone. It goes with a reboot, as all that labs make does.
const registry = "/run/vppdrill/labs"

func registered(id string) string { return filepath.Join(registry, id) }

// register takes an ID for this machine: the lab's owner and folder. fs.ErrExist where it is taken.
func (h StateDir) register() error {
	if err := os.MkdirAll(registry, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(registered(h.ID), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\n%s\n", h.Owner, h.dir)
	return errors.Join(err, f.Close())
}

// elsewhere reports whether an ID belongs to a lab of another folder: its owner lives, or its folder is still there.
// What is not registered was not made by claim and is nobody's to remove.
func elsewhere(id string) bool {
	text, err := os.ReadFile(registered(id))
	if err != nil {
		return true
	}
	owner, dir, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if p, err := spawn.ParseID(owner); err == nil && p.Alive() {
		return true
	}
	_, err = os.Stat(dir)
	return err == nil
}

// save writes the entry so that readers see all of it or none.
func (h StateDir) save() error {
	text, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return err
	}
	tmp := filepath.Join(h.dir, stateFile+".new")
	if err := os.WriteFile(tmp, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(h.dir, stateFile))
}

// StateDirs lists the labs of a folder by ID; those whose entry cannot be read have an ID and a folder only.
func StateDirs(root string) ([]StateDir, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []StateDir
	for _, e := range entries {
		if !e.IsDir() || !ValidID(e.Name()) {
			continue
		}
		out = append(out, readStateDir(filepath.Join(root, e.Name())))
	}
	return out, nil
}

func readStateDir(dir string) StateDir {
	h := StateDir{}
	if text, err := os.ReadFile(filepath.Join(dir, stateFile)); err == nil && json.Unmarshal(text, &h) != nil {
		h = StateDir{}
	}
	h.ID, h.dir = filepath.Base(dir), dir
	return h
}

// Find returns the lab of that ID, or the only one when id is empty.
func Find(root, id string) (StateDir, error) {
	dirs, err := StateDirs(root)
	if err != nil {
		return StateDir{}, err
	}
	dirs = slices.DeleteFunc(dirs, func(h StateDir) bool { return id != "" && h.ID != id })
	var ids []string
	for _, h := range dirs {
		ids = append(ids, h.ID)
	}
	switch {
	case len(dirs) == 1:
		return dirs[0], nil
	case len(dirs) > 1:
		return StateDir{}, fmt.Errorf("which lab? there are %s", strings.Join(ids, ", "))
	case id != "":
		return StateDir{}, fmt.Errorf("there is no lab %s", id)
	}
	return StateDir{}, errors.New("there is no lab; `vppdrill lab up --nodes 2` makes one")
}

// grace is how long a folder without an owner may be one that is just being made.
const grace = 10 * time.Second

// Census removes what labs have left behind whose owners died, and returns their IDs. Every command of labs begins with
// it. Two commands at once take turns.
func Census(root string, b Backend) ([]string, error) {
	lock, err := lockRoot(root)
	if err != nil || lock == nil {
		return nil, err
	}
	defer func() { _ = lock.Close() }() // the lock goes with it
	dirs, err := StateDirs(root)
	if err != nil {
		return nil, err
	}
	var gone []string
	var errs []error
	known := map[string]bool{}
	for _, h := range dirs {
		known[h.ID] = true
		info, err := os.Stat(h.dir)
		fresh := err == nil && h.Owner == "" && time.Since(info.ModTime()) < grace
		if h.Kept || h.Alive() || fresh || h.Backend != "" && h.Backend != b.Name() {
			continue
		}
		if err := h.remove(b); err != nil {
			errs = append(errs, err)
			continue
		}
		gone = append(gone, h.ID)
	}
	strays, err := b.Strays()
	errs = append(errs, err)
	for _, id := range strays {
		if known[id] || !ValidID(id) || elsewhere(id) {
			continue
		}
		if err := (StateDir{ID: id, dir: filepath.Join(root, id)}).remove(b); err != nil {
			errs = append(errs, err)
			continue
		}
		gone = append(gone, id)
	}
	return gone, errors.Join(errs...)
}

// lockTime is how long another command's census may take, which removes whole labs.
const lockTime = 2 * time.Minute

// lockRoot takes the census' lock; nil where there is no folder and so no lab.
func lockRoot(root string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(root, ".census"), os.O_CREATE|os.O_RDWR, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockTime); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return f, nil
		case !errors.Is(err, unix.EWOULDBLOCK):
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		case time.Now().After(end):
			_ = f.Close()
			return nil, fmt.Errorf("another command of labs has held %s for %s", f.Name(), lockTime)
		}
	}
}

// remove ends everything of a lab and deletes its folder, last of all: while anything is left, the folder tells of it.
func (h StateDir) remove(b Backend) error {
	if err := b.Sweep(h.ID, h.dir); err != nil {
		return fmt.Errorf("lab %s: %w", h.ID, err)
	}
	if err := os.RemoveAll(h.dir); err != nil {
		return err
	}
	if err := os.Remove(registered(h.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Remove ends a lab whose owner is gone or has kept it.
func Remove(h StateDir, b Backend) error { return h.remove(b) }
