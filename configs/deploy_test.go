package configs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// The recipes of configs/deploy cannot run here. What makes them safe is
// looked at, so that it cannot vanish unseen.

func recipe(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// at follows keys and indexes into a YAML value; nil if there is nothing.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

// documents parses a file of several YAML documents, by kind.
func documents(t *testing.T, text []byte) map[string]any {
	t.Helper()
	all := map[string]any{}
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc map[string]any
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprint(doc["kind"])] = doc
	}
}

// cronJobMistakes returns what is missing in the Kubernetes recipe.
func cronJobMistakes(t *testing.T, text []byte) (wrong []string) {
	t.Helper()
	docs := documents(t, text)
	job := []any{"spec", "jobTemplate", "spec"}
	pod := append(slices.Clone(job), "template", "spec")
	box := append(slices.Clone(pod), "containers", 0)
	want := func(kind string, want any, base []any, path ...any) {
		full := append(slices.Clone(base), path...)
		if got := at(docs[kind], full...); !reflect.DeepEqual(fmt.Sprint(got), fmt.Sprint(want)) {
			wrong = append(wrong, fmt.Sprintf("%s %v is %v, want %v", kind, full, got, want))
		}
	}
	want("CronJob", "batch/v1", nil, "apiVersion")
	want("CronJob", "Forbid", nil, "spec", "concurrencyPolicy")
	want("CronJob", "Europe/Madrid", nil, "spec", "timeZone")
	want("CronJob", 21600, nil, "spec", "startingDeadlineSeconds")
	want("CronJob", "FailJob", job, "podFailurePolicy", "rules", 0, "action")
	want("CronJob", "velum", job, "podFailurePolicy", "rules", 0, "onExitCodes", "containerName")
	want("CronJob", "In", job, "podFailurePolicy", "rules", 0, "onExitCodes", "operator")
	want("CronJob", []any{3, 10, 12, 13, 15}, job, "podFailurePolicy", "rules", 0, "onExitCodes", "values")
	want("CronJob", "Ignore", job, "podFailurePolicy", "rules", 1, "action")
	want("CronJob", "Never", pod, "restartPolicy") // podFailurePolicy needs it
	want("CronJob", false, pod, "automountServiceAccountToken")
	want("CronJob", true, pod, "securityContext", "runAsNonRoot")
	want("CronJob", 65532, pod, "securityContext", "runAsUser")
	want("CronJob", "RuntimeDefault", pod, "securityContext", "seccompProfile", "type")
	want("CronJob", "velum", box, "name")
	want("CronJob", true, box, "securityContext", "readOnlyRootFilesystem")
	want("CronJob", false, box, "securityContext", "allowPrivilegeEscalation")
	want("CronJob", []any{"ALL"}, box, "securityContext", "capabilities", "drop")
	want("CronJob", "3Gi", box, "resources", "limits", "memory")
	want("CronJob", "night", box, "args", 0)
	want("CronJob", true, box, "volumeMounts", 0, "readOnly") // the archive
	want("NetworkPolicy", map[string]any{}, nil, "spec", "podSelector")
	want("NetworkPolicy", []any{"Ingress", "Egress"}, nil, "spec", "policyTypes")
	want("NetworkPolicy", []any{}, nil, "spec", "ingress")
	want("NetworkPolicy", []any{}, nil, "spec", "egress")
	if grace, _ := at(docs["CronJob"], append(pod, "terminationGracePeriodSeconds")...).(uint64); grace < 45 {
		wrong = append(wrong, "terminationGracePeriodSeconds is too short: a run takes up to 30 s to stop")
	}
	return wrong
}

func TestKubernetes(t *testing.T) {
	text := recipe(t, "kubernetes.yaml")
	for _, w := range cronJobMistakes(t, text) {
		t.Error(w)
	}
	// The test itself: each of these lines has to be missed.
	for _, line := range []string{
		"concurrencyPolicy: Forbid", "timeZone: Europe/Madrid", "startingDeadlineSeconds: 21600", "values: [3, 10, 12, 13, 15]",
		"restartPolicy: Never", "automountServiceAccountToken: false", "runAsNonRoot: true", "readOnlyRootFilesystem: true",
		"allowPrivilegeEscalation: false", "capabilities: {drop: [ALL]}", "policyTypes: [Ingress, Egress]", "egress: []",
		"terminationGracePeriodSeconds: 60", "seccompProfile: {type: RuntimeDefault}",
	} {
		if bytes.Count(text, []byte(line)) == 0 {
			t.Errorf("%q is not in the file", line)
		}
		if len(cronJobMistakes(t, bytes.ReplaceAll(text, []byte(line), []byte("removed: x")))) == 0 {
			t.Errorf("nobody sees that %q is gone", line)
		}
	}
}

// TestNightConfig: the configuration in the config map is that of the file.
func TestNightConfig(t *testing.T) {
	text, ok := at(documents(t, recipe(t, "kubernetes.yaml"))["ConfigMap"], "data", "night.yaml").(string)
	if !ok {
		t.Fatal("no night.yaml in the config map")
	}
	for _, text := range []string{text, string(recipe(t, "night.yaml"))} {
		var night struct {
			Profile string
			Tag     struct{ Model string }
			Write   struct {
				MaxQuarantined float64 `yaml:"max_quarantined"`
			}
		}
		if err := yaml.UnmarshalWithOptions([]byte(text), &night, yaml.Strict()); err != nil {
			t.Error(err)
		}
		if night.Profile != "primary-care" || night.Write.MaxQuarantined != 0.01 {
			t.Errorf("%+v", night)
		}
	}
}

// unitSettings reads a systemd unit: all values of every setting. An empty
// value empties the list, as it does for systemd.
func unitSettings(text []byte) map[string][]string {
	all := map[string][]string{}
	section := ""
	text = bytes.ReplaceAll(text, []byte("\\\n"), nil)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case ok && line[0] != '#':
			key = section + "." + key
			all[key] = append(all[key], value)
		}
	}
	return all
}

// TestSystemd looks for what keeps a night apart from the rest of the machine.
func TestSystemd(t *testing.T) {
	service, timer := unitSettings(recipe(t, "velum.service")), unitSettings(recipe(t, "velum.timer"))
	for key, want := range map[string]string{
		"Unit.OnFailure": "velum-alert@%n.service",
		"Service.Type":   "oneshot", "Service.User": "velum", "Service.SuccessExitStatus": "4",
		"Service.Restart": "on-failure", "Service.RestartPreventExitStatus": "3 10 11 12 13 15",
		"Service.LoadCredential": "velum.key:/etc/velum/velum.key",
		"Service.PrivateNetwork": "yes", "Service.IPAddressDeny": "any", "Service.NoNewPrivileges": "yes",
		"Service.ProtectSystem": "strict", "Service.ProtectHome": "yes", "Service.UMask": "0077", "Service.LimitCORE": "0",
		"Service.MemoryMax": "4G", "Service.MemorySwapMax": "0", "Service.CapabilityBoundingSet": "", "Service.ReadWritePaths": "/srv/velum",
		"Service.ReadOnlyPaths": "/srv/archive", "Service.PrivateTmp": "yes", "Service.PrivateDevices": "yes", "Service.ProtectProc": "invisible",
		"Service.MemoryDenyWriteExecute": "yes", "Service.RestrictNamespaces": "yes", "Service.SystemCallArchitectures": "native",
		"Service.TimeoutStopSec": "45s",
	} {
		if !slices.Equal(service[key], []string{want}) {
			t.Errorf("velum.service: %s=%q, want %q", key, service[key], want)
		}
	}
	for key, want := range map[string]string{"Timer.Persistent": "true", "Timer.OnCalendar": "*-*-* 01:30:00", "Install.WantedBy": "timers.target"} {
		if !slices.Equal(timer[key], []string{want}) {
			t.Errorf("velum.timer: %s=%q, want %q", key, timer[key], want)
		}
	}
	if command := strings.Join(service["Service.ExecStart"], ""); strings.Contains(command, "/etc/velum/velum.key") || !strings.Contains(command, "key.file=%d/velum.key") {
		t.Errorf("the key is not that of the credential: %s", command)
	}
}

// TestSystemdVerify lets systemd itself read the units, where it is installed.
func TestSystemdVerify(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze")
	}
	dir := t.TempDir()
	for _, name := range []string{"velum.service", "velum.timer", "velum-alert@.service"} {
		// the programs are not installed here: any program will do
		text := regexp.MustCompile(`/usr/bin/(velum|logger)\b`).ReplaceAll(recipe(t, name), []byte("/bin/sh"))
		text = bytes.ReplaceAll(text, []byte("Documentation=man:velum-run(1)\n"), nil)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	verify := exec.Command(analyze, "verify", "--man=no", filepath.Join(dir, "velum.timer"), filepath.Join(dir, "velum.service"))
	verify.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+dir+":/usr/lib/systemd/system:/lib/systemd/system")
	out, err := verify.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "velum") {
			t.Errorf("%s", strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	// 0 is sealed off, 10 is wide open; 2 and less is "OK" or better.
	security := exec.Command(analyze, "security", "--offline=true", "--threshold=10", "--no-pager", filepath.Join(dir, "velum.service"))
	if out, err := security.CombinedOutput(); err != nil && !bytes.Contains(out, []byte("unrecognized option")) {
		t.Errorf("the service is more exposed than 1.0: %v\n%s", err, out)
	}
}

// dagProgram stands in for Airflow: it runs the DAG file with operators that
// only remember what they were given.
const dagProgram = `
import sys, types, json
tasks, dags = {}, []
class Dag:
    def __init__(self, **kw): dags.append(kw)
    def __enter__(self): return self
    def __exit__(self, *a): return False
class Bash:
    def __init__(self, **kw): tasks[kw["task_id"]] = kw
    def __rshift__(self, other): return other
airflow, operators, bash = (types.ModuleType(n) for n in ("airflow", "airflow.operators", "airflow.operators.bash"))
airflow.DAG, bash.BashOperator = Dag, Bash
sys.modules.update({"airflow": airflow, "airflow.operators": operators, "airflow.operators.bash": bash})
source = open(sys.argv[1]).read()
exec(compile(source, sys.argv[1], "exec"), {})
dag, mask, check = dags[0], tasks["mask"], tasks["check"]
assert mask["skip_on_exit_code"] == 4, "skip_on_exit_code"
assert dag["max_active_runs"] == 1 and dag["catchup"] is False, "one run at a time"
assert dag["default_args"]["do_xcom_push"] is False, "xcom"
assert mask["env"] == {} and mask["append_env"] is False, "env"
assert mask["bash_command"].startswith("exec /usr/bin/velum run "), "mask"
assert check["bash_command"].startswith("exec /usr/bin/velum check "), "check"
assert check["trigger_rule"] == "none_failed", "check runs after a skip"
`

func TestAirflow(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	run := func(text []byte) error {
		file := filepath.Join(t.TempDir(), "dag.py")
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(python, "-B", "-c", dagProgram, file).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}
	text := recipe(t, "airflow_dag.py")
	if err := run(text); err != nil {
		t.Error(err)
	}
	if run(bytes.ReplaceAll(text, []byte("skip_on_exit_code=4,"), nil)) == nil {
		t.Error("nobody sees that skip_on_exit_code is gone")
	}
}

// TestContainerfile: from nothing, not root, no shell.
func TestContainerfile(t *testing.T) {
	var lines []string
	for line := range strings.Lines(string(recipe(t, "Containerfile"))) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	if lines[0] != "FROM scratch" {
		t.Errorf("begins with %q", lines[0])
	}
	for _, want := range []string{"USER 65532:65532", `ENTRYPOINT ["/velum"]`, "COPY velum /velum"} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q", want)
		}
	}
	if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "RUN ") || strings.HasPrefix(l, "ADD ") }) {
		t.Error("something is run or fetched")
	}
}
