import Glibc

/// The benchmark of recording files: the speed of reading a gibibyte, the time to find a moment in it, and its
/// compressed size.
struct RecordingFiles {
    /// Measures the CPU and the page cache: files are read once before they are timed.
    private static let runs = 3

    private static let header = RepeatedRecording.Header(
        text:
            #"{"tickertape":2,"program":"benchmark","symbols":[],"source":"replay","wall":1767225600000000,"first":1"#,
        wall: 1_767_225_600_000_000
    )

    let bench: Workbench

    func rows() throws -> [Row] {
        let plain = try RepeatedRecording(
            of: self.bench.options.recording,
            minimumBytes: self.bench.options.mebibytes << 20,
            header: Self.header,
            folder: self.bench.folder
        )
        Workbench.say("recording: \(plain.frames) frames in a file of \(self.bench.options.mebibytes) MiB")
        let large = self.bench.folder.file("large.jsonl")
        _ = try self.run(["recording", "repair", plain.path, large])
        unlink(plain.path)
        let size = Self.size(of: large)
        var rows = try self.read(large, "plain", size: size, span: plain.span)
        let packed = try self.pack(large)
        rows += try self.read(packed, "compressed", size: size, span: plain.span)
        let part = Double(Self.size(of: packed)) * 100 / Double(plain.textBytes)
        rows.append(RecordingBenchmark.row("size, % of the raw frames", [part], digits: 1, goal: "15"))
        let start = try (0..<Self.runs).map { _ in try self.run(["--version"]) * 1_000 }
        rows.append(RecordingBenchmark.row("the program's own start, ms", start, digits: 0, goal: ""))
        return rows
    }

    private func read(_ path: String, _ name: String, size: Int, span: Int) throws -> [Row] {
        Workbench.say("recording: reading, \(name)")
        let paces = try (0..<Self.runs).map { _ in Double(size) / 1e6 / (try self.run(["recording", "verify", path])) }
        var times: [Double] = []
        for part in [0.1, 0.5, 0.9] {
            let milliseconds = Int(part * Double(span) / 1e6)
            // Longer than any pause of the repeated recording, since a cut without a message is refused.
            let end = milliseconds + 5_000
            for _ in 0..<Self.runs {
                let target = self.bench.folder.file("cut.jsonl")
                let time = try self.run([
                    "recording", "cut", "--from", "\(milliseconds)ms", "--to", "\(end)ms", path,
                    target,
                ])
                times.append(time * 1_000)
            }
        }
        return [
            RecordingBenchmark.row("verify, \(name), MB/s of text", paces, digits: 0, goal: "500"),
            RecordingBenchmark.row("open and seek, \(name), whole program, ms", times, digits: 0, goal: "100"),
        ]
    }

    /// Makes the program compress a file, as a start does with the file of an earlier run.
    private func pack(_ path: String) throws -> String {
        Workbench.say("recording: compressing")
        let process = try self.bench.start(
            self.bench.options.program,
            [
                "replay", self.bench.options.recording, "--quiet", "--relay", "off", "--set", "record.compress=true",
                "--record", path,
            ]
        )
        defer { process.stop() }
        let limit = Clock.now() + 300 * Clock.second
        while access(path, F_OK) == 0 {
            guard process.isRunning, Clock.now() < limit else {
                throw BenchmarkFailure("\(path) is not compressed: \(process.errors)")
            }
            Clock.pause(milliseconds: 50)
        }
        self.bench.folder.willHold("\(path).zst")
        self.bench.folder.willHold(path.replacing(suffix: ".jsonl", with: "-0002.jsonl"))
        return "\(path).zst"
    }

    /// Runs the program to its end; returns the seconds.
    private func run(_ arguments: [String]) throws -> Double {
        let start = Clock.now()
        let process = try self.bench.start(self.bench.options.program, arguments)
        let ending = try process.wait(seconds: 300)
        guard ending.status == 0 else {
            throw BenchmarkFailure("\(arguments): exit status \(ending.status): \(process.errors)")
        }
        return Double(Clock.now() - start) / Double(Clock.second)
    }

    private static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}

extension String {
    fileprivate func replacing(suffix: String, with other: String) -> String {
        self.hasSuffix(suffix) ? String(self.dropLast(suffix.count)) + other : self
    }
}
