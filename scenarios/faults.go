package scenarios

import "time"

// Faults are what goes wrong by chance during the break phase. Every probability is per occasion and in [0, 1]; each
// occasion is one decision of the run's chooser. Heal makes all of them zero.
type Faults struct {
	DropRequest float64 `yaml:"dropRequest" min:"0" max:"1" doc:"A call to VPP or Linux is lost before it was done."`
	DropReply   float64 `yaml:"dropReply" min:"0" max:"1" doc:"A call to VPP or Linux is done and its reply lost."`
	Refuse      float64 `yaml:"refuse" min:"0" max:"1" doc:"A call to VPP or Linux fails with a return value and does nothing."`
	DelayReply  Delay   `yaml:"delayReply" doc:"A reply of VPP or Linux comes late."`
	CrashVPP    float64 `yaml:"crashVPP" min:"0" max:"1" doc:"VPP dies on a call and starts again empty."`

	CrashBeforeEffect float64 `yaml:"crashBeforeEffect" min:"0" max:"1" doc:"The agent is killed before it starts an effect."`
	CrashAfterEffect  float64 `yaml:"crashAfterEffect" min:"0" max:"1" doc:"The agent is killed after an effect was done and before it learns so."`
	CrashAfterPersist float64 `yaml:"crashAfterPersist" min:"0" max:"1" doc:"The agent is killed right after its journal was synced."`
	DiskError         float64 `yaml:"diskError" min:"0" max:"1" doc:"A journal write fails; nothing, a part or all of it is on disk."`

	SlowDisk Delay `yaml:"slowDisk" doc:"A journal write is safe, and told so, later; those behind it wait."`

	StoreUnavailable float64 `yaml:"storeUnavailable" min:"0" max:"1" doc:"A store request is answered with unavailable; whether it was done is open."`
	DropStoreReply   float64 `yaml:"dropStoreReply" min:"0" max:"1" doc:"A store request is done and its reply lost."`
	DelayStoreReply  Delay   `yaml:"delayStoreReply" doc:"A store reply comes late."`
	CompactStore     float64 `yaml:"compactStore" min:"0" max:"1" doc:"The store forgets its history before it serves a request: a watch from before is refused, one that was cut off is lost."`
	LoseWatch        float64 `yaml:"loseWatch" min:"0" max:"1" doc:"A watch ends at a delivery; the agent lists again."`
	DuplicateWatch   float64 `yaml:"duplicateWatch" min:"0" max:"1" doc:"A watch delivers a change twice."`

	WithdrawCNI float64 `yaml:"withdrawCNI" min:"0" max:"1" doc:"The container runtime stops waiting for a CNI answer and asks again later."`

	Nodes  []string `yaml:"nodes" pattern:"word" doc:"Only these nodes suffer; all when absent."`
	Inject []string `yaml:"inject" pattern:"fault" doc:"Injected faults as s-expressions, such as (Nth 1 (Request tap_create_v3 Mute))."`
	// AsItWas is no chance, and nothing heals it.
	AsItWas string `yaml:"asItWas" pattern:"word" example:"existing-not-occupied" doc:"A fault that another project once had, put back for the whole run, by its name in vppdrill debug museum --list."`
}

// Delay is a reply that comes late: with probability P, by a time drawn evenly from (0, By].
type Delay struct {
	P  float64       `yaml:"p" min:"0" max:"1" doc:"How often."`
	By time.Duration `yaml:"by" doc:"By how much at most."`
}

// Any reports whether anything can go wrong by chance.
func (f *Faults) Any() bool {
	for _, p := range [...]float64{f.DropRequest, f.DropReply, f.Refuse, f.DelayReply.P, f.CrashVPP, f.CrashBeforeEffect,
		f.CrashAfterEffect, f.CrashAfterPersist, f.DiskError, f.SlowDisk.P, f.StoreUnavailable, f.DropStoreReply, f.DelayStoreReply.P, f.CompactStore,
		f.LoseWatch, f.DuplicateWatch, f.WithdrawCNI} {
		if p > 0 {
			return true
		}
	}
	return len(f.Inject) > 0
}

// Churn are pods that come and go by themselves: from From on, every Every (drawn evenly from half to one and a half
// times it) Count pods are created where the scheduler puts them, and each is deleted after a lifetime drawn evenly from
// half to one and a half times Lifetime, or after one of Lifetimes. The zero Churn does nothing.
type Churn struct {
	Every    time.Duration `yaml:"every" doc:"Mean time between creations; 0 is no churn."`
	Count    int           `yaml:"count" min:"0" max:"1000" doc:"Pods per creation; 0 means 1."`
	Lifetime time.Duration `yaml:"lifetime" doc:"Mean life of a pod; 0 means that it stays."`
	// Lifetimes are what a trace's pods had, say its 20 quantiles: lives of real pods are many seconds and some weeks.
	Lifetimes []time.Duration `yaml:"lifetimes" doc:"Instead of lifetime: lives of which a pod gets one, each as likely; 0 means that it stays."`
	From      time.Duration   `yaml:"from" doc:"When churn starts."`
	Until     time.Duration   `yaml:"until" doc:"When creations end; the end of the break phase when absent."`
	App       string          `yaml:"app" pattern:"word" doc:"The application that the pods belong to; churn when absent."`
}

// On reports whether there is any churn.
func (c Churn) On() bool { return c.Every > 0 }
