import Feeds
package import Market
package import MockUpstream
import NIOCore
import Recordings
package import Simulation

/// The digest of a replay's outputs, which must be the same bytes at any speed, in any run and on any machine.
package struct ReplayHash: Sendable {
    package var recording: RecordingFile
    /// The pace, and the part of the recording to play.
    package var replay = ReplaySettings()
    /// The symbols to subscribe to; empty means the recording's, of Finnhub's up to the limit of one connection.
    package var symbols: [String] = []
    /// The alert rules; empty means ``OutputHarness/usualRules``.
    package var rules: [AlertRule] = []
    package var cutting = ReplayCutting.messages
    package var keepsBytes = false

    /// The outputs of one run.
    package struct Report: Sendable {
        package var outputs: [HarnessOutput]
        /// The length of the replay by its virtual clock, ns.
        package var elapsed: Int64
    }

    package init(recording: RecordingFile) { self.recording = recording }

    /// Plays the recording to its end, without waiting for its pace.
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

    /// Runs everything that uses the two virtual clocks, which belong to the thread that made them.
    private func play(_ history: HistoryHarness) throws -> Report {
        do {
            let material = ReplayMaterial.recording(self.recording)
            let replay = try VirtualReplay(material, settings: self.replay)
            let clock = replay.clock
            let began = clock.wall()
            let symbols = self.symbols.isEmpty ? material.symbols(ofFinnhub: 50) : self.symbols
            // Constants, so that neither the file's name nor the speed appears in an output.
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
            let dialects = material.connections(for: symbols).keys
            plan.dialect = dialects.min { $0.rawValue < $1.rawValue } ?? .finnhub
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
