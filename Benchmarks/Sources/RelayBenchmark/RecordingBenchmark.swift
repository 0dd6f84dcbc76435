import Glibc

/// The benchmark of recording: the writer's CPU time per frame, and the effect on the relay's clients.
struct RecordingBenchmark {
    private static let clients = 100
    private static let rate = 1_000
    /// The name of the thread that writes the recording.
    private static let thread = "recorder"
    /// The name of the thread that writes bars and the index into the database.
    private static let historyThread = "history"

    let bench: Workbench

    func rows() throws -> [Row] {
        var rows = [try self.writer()]
        rows += try self.relay()
        rows += try RecordingFiles(bench: self.bench).rows()
        return rows
    }

    /// Returns the row of a figure with its goal.
    static func row(_ figure: String, _ values: [Double], digits: Int, goal: String) -> Row {
        Row([
            "figure": .text(figure),
            "median": .number(values.median, digits: digits),
            "least": .number(values.min() ?? .nan, digits: digits),
            "most": .number(values.max() ?? .nan, digits: digits),
            "goal": .text(goal),
        ])
    }

    /// Measures the CPU time of the writer's thread while a recording is replayed at full speed.
    private func writer() throws -> Row {
        let recording = try RepeatedRecording(
            of: self.bench.options.recording,
            minimumTrades: self.bench.options.trades,
            folder: self.bench.folder
        )
        var costs: [Double] = []
        for round in 1...self.bench.options.rounds {
            Workbench.say("recording: \(recording.frames) frames, round \(round)")
            let target = self.bench.folder.file("recorded.jsonl")
            let process = try self.bench.start(
                self.bench.options.program,
                [
                    "replay", recording.path, "--speed", "max", "--quiet", "--relay", "off", "--set",
                    "record.compress=false", "--set", "record.segment-size=4GiB", "--record", target,
                ]
            )
            defer { process.stop() }
            var cpu: Int64 = 0
            while process.isRunning {
                cpu = max(cpu, process.cpu(ofThreads: Self.thread))
                Clock.pause(milliseconds: 5)
            }
            guard process.errors.contains("recorded \(recording.frames) frames") else {
                throw BenchmarkFailure("not all was recorded: \(process.errors)")
            }
            unlink(target)
            costs.append(Double(cpu) / 1_000 / Double(recording.frames))
        }
        let bytes = recording.textBytes / max(recording.frames, 1)
        return Self.row("writer, CPU us a frame of \(bytes) bytes", costs, digits: 2, goal: "2")
    }

    // MARK: The relay

    private struct Round {
        var p99: Double
        /// The CPU time of the writer's thread per message, us.
        var writing: Double
        /// The CPU time of the history's thread per message, us; every recording has a history.
        var keeping: Double
    }

    /// Runs rounds with and without a recording in turns, and compares each pair.
    private func relay() throws -> [Row] {
        var with: [Round] = []
        var without: [Round] = []
        for round in 0..<self.bench.options.rounds {
            for records in round % 2 == 0 ? [false, true] : [true, false] {
                Workbench.say("recording: relay \(records ? "with" : "without"), round \(round + 1)")
                let measured = try self.measure(records: records)
                if records { with.append(measured) } else { without.append(measured) }
            }
        }
        let pairs = Array(zip(with, without))
        return [
            Self.row("relay p99 us, not recording", without.map(\.p99), digits: 0, goal: ""),
            Self.row("relay p99 us, recording", with.map(\.p99), digits: 0, goal: ""),
            Self.row("relay p99, recording against not", pairs.map { $0.p99 / $1.p99 }, digits: 2, goal: "1.1"),
            Self.row(
                "writer, CPU us a frame at \(Self.rate) a second",
                with.map(\.writing),
                digits: 2,
                goal: "2"
            ),
            Self.row(
                "history, CPU us a frame at \(Self.rate) a second",
                with.map(\.keeping),
                digits: 2,
                goal: ""
            ),
        ]
    }

    private func measure(records: Bool) throws -> Round {
        let finnhub = try FakeFinnhub()
        let port = try Loopback.freePort()
        let target = self.bench.folder.file("recorded.jsonl")
        let process = try self.bench.startProgram(
            upstream: finnhub,
            ["--quiet", "--relay", "127.0.0.1:\(port)"] + (records ? ["--record", target] : [])
        )
        defer { process.stop() }
        try finnhub.accept(process)
        let crowd = try Crowd(finnhub: finnhub)
        try crowd.join(Self.clients, port: port, process: process)
        try crowd.warmUp()
        let interval = Clock.second / Int64(Self.rate)
        _ = try crowd.send(Self.rate / 2, every: interval)
        // The writer's thread alone, since the whole program's time varies more between runs.
        let writing = process.cpu(ofThreads: Self.thread)
        let keeping = process.cpu(ofThreads: Self.historyThread)
        let count = Self.rate * self.bench.options.seconds
        let books = try crowd.send(count, every: interval)
        guard books.delivered == count * Self.clients else {
            throw BenchmarkFailure("\(count * Self.clients - books.delivered) deliveries are missing")
        }
        return Round(
            p99: Double(books.latency.quantile(0.99)) / 1_000,
            writing: Double(process.cpu(ofThreads: Self.thread) - writing) / 1_000 / Double(count),
            keeping: Double(process.cpu(ofThreads: Self.historyThread) - keeping) / 1_000 / Double(count)
        )
    }
}
