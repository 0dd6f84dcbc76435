import Foundation
import Simulation
import Testing
import TickertapeTesting

/// Reference digests in a file of `Tests/Snapshots`, in the form of `tickertape replay --hash`.
///
/// `TICKERTAPE_WRITE_SNAPSHOTS=1` rewrites the file. Use it only after an intended change of an output.
enum KeptHashes {
    static func check(_ outputs: [HarnessOutput], in name: String) throws {
        let path = "\(RunningProgram.sources)/Tests/Snapshots/\(name)"
        let lines = outputs.map { "\($0.digest)  \($0.name)" }
        if ProcessInfo.processInfo.environment["TICKERTAPE_WRITE_SNAPSHOTS"] == "1" {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
            return
        }
        let kept = try TemporaryFolder.text(of: path).split(separator: "\n").map(String.init)
        #expect(kept.count == lines.count)
        for line in lines { #expect(kept.contains(line), "it said otherwise when \(name) was written") }
    }
}
