/// The benchmark of throughput: a recording through TLS and WebSocket onto the tape, and to one lossless client.
struct ThroughputBenchmark {
    private struct Round {
        /// As the program counted and timed them.
        var trades: Int
        var seconds: Double
        /// CPU time of the whole process, ns, including the mock server, which encrypts.
        var cpu: Int64
    }

    let bench: Workbench

    func rows() throws -> [Row] {
        let recording = try RepeatedRecording(
            of: self.bench.options.recording,
            minimumTrades: self.bench.options.trades,
            folder: self.bench.folder
        )
        var alone: [Round] = []
        var withClient: [Round] = []
        for round in 1...self.bench.options.rounds {
            Workbench.say("throughput: \(recording.trades) trades, round \(round)")
            alone.append(try self.replay(recording, client: false))
            withClient.append(try self.replay(recording, client: true))
        }
        return [Self.row("relay off", alone), Self.row("one lossless client", withClient)]
    }

    private static func row(_ name: String, _ rounds: [Round]) -> Row {
        Row([
            "replay": .text(name),
            "trades": .count(rounds.first?.trades ?? 0),
            "trades_per_s": .number(rounds.map { Double($0.trades) / $0.seconds }.median, digits: 0),
            "best_trades_per_s": .number(rounds.map { Double($0.trades) / $0.seconds }.max() ?? 0, digits: 0),
            "cpu_s_per_million": .number(rounds.map { Double($0.cpu) / 1e3 / Double($0.trades) }.median, digits: 2),
        ])
    }

    private func replay(_ recording: RepeatedRecording, client: Bool) throws -> Round {
        let port = try Loopback.freePort()
        var arguments = ["replay", recording.path, "--speed", "max", "--quiet"]
        arguments += client ? ["--relay", "127.0.0.1:\(port)", "--wait-client"] : ["--relay", "off"]
        let process = try self.bench.start(self.bench.options.program, arguments)
        defer { process.stop() }
        if client {
            var reader = try LosslessReader(port: port, process: process, symbols: recording.symbols)
            try reader.read(seconds: 120)
            guard reader.trades == recording.trades, reader.digest == recording.digest else {
                throw BenchmarkFailure("\(reader.trades) of \(recording.trades) trades came, or others than recorded")
            }
        }
        let ending = try process.wait(seconds: 120)
        guard ending.status == 0 else { throw BenchmarkFailure("exit status \(ending.status): \(process.errors)") }
        let (trades, seconds) = try Self.report(in: process.errors)
        guard trades == recording.trades else { throw BenchmarkFailure("\(trades) of \(recording.trades) trades") }
        return Round(trades: trades, seconds: seconds, cpu: ending.cpu)
    }

    /// Parses `tickertape: replayed 19904 trades in 650.1 s`.
    private static func report(in text: String) throws -> (trades: Int, seconds: Double) {
        for line in text.split(separator: "\n").reversed() {
            let words = line.split(separator: " ").drop { $0 != "replayed" }.map(String.init)
            if words.count == 6, let trades = Int(words[1]), let seconds = Double(words[4]), seconds > 0 {
                return (trades, seconds)
            }
        }
        throw BenchmarkFailure("no report of the replay in: \(text)")
    }
}
