import Feeds
package import Market
package import MockUpstream
import NIOCore
import Recordings
package import Simulation

/// What is to be proved of a replay: the same bytes on every sink, whatever the speed, the run and the machine.
package struct ReplayHash: Sendable {
    package var recording: RecordingFile
    /// The pace of the player, and what of the recording it plays.
    package var replay = ReplaySettings()
    /// The symbols to ask for; none means those of the recording, as many as one connection may have.
    package var symbols: [String] = []
    /// The alerts that are set; none means ``OutputHarness/usualRules``.
    package var rules: [AlertRule] = []
    package var cutting = ReplayCutting.messages
    package var keepsBytes = false

    /// What came of it.
    package struct Report: Sendable {
        package var outputs: [HarnessOutput]
        /// How long the player took by its own clock, ns.
        package var elapsed: Int64
    }

    package init(recording: RecordingFile) { self.recording = recording }

    /// Plays it to the end; takes as long as the work takes.
    ///
    /// - Throws: ``OperatorError`` when the recording cannot be played to its end.
    package func run() async throws -> Report {
        let history = try HistoryHarness()
        var report: Report
        do {
            report = try self.play(history)
        } catch {
            await history.abandon()
            throw error
        }
        report.outputs.append(try await history.finish(keepsBytes: self.keepsBytes))
        report.outputs.sort { $0.name < $1.name }
        return report
    }

    /// All that is on the two clocks, which belong to the thread that made them.
    private func play(_ history: HistoryHarness) throws -> Report {
        do {
            let replay = try VirtualReplay(.recording(self.recording), settings: self.replay)
            let clock = replay.clock
            let began = clock.wall()
            let symbols = self.symbols.isEmpty ? Array(self.recording.symbols.prefix(50)) : self.symbols
            // Neither the file's name nor the speed is in anybody's bytes.
            let source = FeedStatus.Source.replay(file: "recording", speed: 1)
            let epoch = UInt64(max(began, 0) / 1_000_000)
            var plan = OutputHarness.Plan(
                symbols: symbols,
                status: FeedStatus(source: source, phase: .connecting, since: began),
                epoch: epoch,
                position: replay.position
            )
            plan.rules = self.rules.isEmpty ? try OutputHarness.usualRules.map { try AlertRule($0) } : self.rules
            plan.keepsBytes = self.keepsBytes
            let sinks = try OutputHarness(plan, loop: clock.loop, wallClock: clock.wall)
            var order = VirtualReplay.Order(symbols: symbols, source: source, epoch: epoch)
            order.cutting = self.cutting
            let elapsed = try replay.run(order, readers: sinks.readers + [history])
            return Report(outputs: sinks.finish(), elapsed: elapsed)
        } catch let failure as RecordingFailure {
            throw OperatorError("\(self.recording.path): \(failure.description)", status: .failure)
        }
    }
}
