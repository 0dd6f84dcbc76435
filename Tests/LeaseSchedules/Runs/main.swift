import Glibc
import LeaseSchedules

// Runs seeded schedules of the lease in virtual time.
//
//   LeaseSimulation COUNT SEED [kept|lost|lostRevisions|rolledBack] [FAULT]
//
// With `lost` the store may lose all that it has. With `lostRevisions` its revisions then come again, as those of
// nats-server 2.9 do. With `rolledBack` it may also lose its last writes. FAULT is planted in the programs.
// The exit status is 1 if a rule is broken: the schedule is printed, and its seed alone runs it again.

func usage() -> Never {
    let faults = PlantedLeaseFault.allCases.map(\.rawValue).joined(separator: "|")
    print("usage: LeaseSimulation COUNT SEED [kept|lost|lostRevisions|rolledBack] [\(faults)]")
    exit(64)
}

var words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 2, let count = UInt64(words[0]), count > 0, let first = UInt64(words[1]) else { usage() }
words.removeFirst(2)
let storage = words.first.flatMap(LeaseSchedule.Storage.init)
if storage != nil { words.removeFirst() }
let planted = words.first.flatMap(PlantedLeaseFault.init)
if words.count > (planted == nil ? 0 : 1) { usage() }

var time = timespec()
clock_gettime(CLOCK_MONOTONIC, &time)
let begin = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
let report = LeaseScheduleReport.run(first..<first + count, storage: storage ?? .kept, planted: planted)
clock_gettime(CLOCK_MONOTONIC, &time)
let seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 - begin
print(report.counts)
print("\(Int(Double(report.counts.schedules) / seconds)) schedules/s, \(Int(seconds)) s")
for (kind, seeds) in report.broken.sorted(by: { "\($0.key)" < "\($1.key)" }) {
    print("BROKEN \(kind): \(seeds.count) schedules, the first with seed \(seeds[0])")
}
if let text = report.firstTrace { print(text) }
exit(report.broken.isEmpty ? 0 : 1)
