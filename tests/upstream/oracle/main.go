// Command oracle answers questions with Kubernetes' own code: what the scheduler would allocate, what a CEL selector says
// of a device, what the API server makes of an object, and what a quantity or a version is.
//
// A question is one line of JSON on standard input, its answer one line on standard output, in the order asked. What is
// asked stands in "ask". "gates" says which feature gates are on: "all" those of DRA (which is what is taken where it
// is not said), "default" those of the release, or a map that changes the defaults; "release" is a minor version whose
// defaults are meant, such as "1.36". A question that cannot be read, or that makes Kubernetes panic, is answered with
// {"failure": text}; nothing ends the oracle but the end of its input.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"k8s.io/klog/v2"
	kjson "sigs.k8s.io/json"
)

var questions = map[string]func(json.RawMessage) (any, error){
	"about":    about,
	"allocate": allocate,
	"cel":      evaluate,
	"celbench": benchmark,
	"validate": validate,
	"quantity": readQuantity,
	"semver":   readVersion,
}

// header is what every question has.
type header struct {
	Ask string `json:"ask"`
	setup
}

func main() {
	endWithParent()
	silence()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if err := write(out, answer(line)); err != nil {
				log.Fatal(err)
			}
		}
		// At once: where the next question hangs, this one has been answered.
		if err := out.Flush(); err != nil {
			log.Fatal(err)
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// endWithParent lets the kernel end this process when the one that asks is gone, in the middle of a question too.
func endWithParent() {
	const setParentDeathSignal = 1
	if runtime.GOOS == "linux" {
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setParentDeathSignal, uintptr(syscall.SIGKILL), 0)
	}
}

func silence() {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	if err := flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL", "-alsologtostderr=false"}); err != nil {
		log.Fatal(err)
	}
	klog.SetOutput(io.Discard)
}

func write(out *bufio.Writer, answer any) error {
	line, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	_, err = out.Write(append(line, '\n'))
	return err
}

func answer(line []byte) (result any) {
	defer func() {
		if r := recover(); r != nil {
			result = map[string]string{"failure": fmt.Sprintf("panic: %v", r), "stack": string(debug.Stack())}
		}
	}()
	var head header
	if err := json.Unmarshal(line, &head); err != nil {
		return failure(err)
	}
	ask, ok := questions[head.Ask]
	if !ok {
		return failure(fmt.Errorf("no such question: %q", head.Ask))
	}
	if err := head.setup.apply(); err != nil {
		return failure(err)
	}
	found, err := ask(line)
	if err != nil {
		return failure(err)
	}
	return found
}

func failure(err error) any {
	return map[string]string{"failure": err.Error()}
}

// read decodes a question as the API server decodes JSON, which is exact about upper and lower case. Fields nobody
// knows are an error: they would be forgotten without a word.
func read(line json.RawMessage, into any) error {
	strict, err := kjson.UnmarshalStrict(line, into)
	if err != nil {
		return err
	}
	if len(strict) > 0 {
		return strict[0]
	}
	return nil
}
