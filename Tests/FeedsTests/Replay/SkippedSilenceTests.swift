import Market
import NIOCore
import NIOEmbedded
import Recordings
import Testing
import TickertapeTesting
import Wire

@testable import Feeds

@Suite("Skipped silences")
struct SkippedSilenceTests {
    private final class Output: ReplayOutput {
        let loop: EmbeddedEventLoop
        var hasRoom = true
        var log: [String] = []

        init(_ loop: EmbeddedEventLoop) { self.loop = loop }

        private func note(_ text: String) { self.log.append("\(self.loop.now.uptimeNanoseconds / 1_000_000) \(text)") }

        func play(_ message: ReplayMessage) {
            self.note(message.trades.first.flatMap(ReplayRecording.number).map { "\($0)" } ?? "text")
        }
        func play(_ signal: RecordedSignal) { self.note("\(signal.kind)") }
        func flush() {}
        func changed(_ position: ReplayPosition, movedFrom: Int64?) {}
        func ended() {}
        func broke() {}
        func failed(_ reason: String) { self.note(reason) }
    }

    @Test("are skipped in one, whatever pings were recorded in them")
    func pings() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = SegmentedRecording(in: folder)
        let pings = (1..<60).flatMap { second -> [SegmentedRecording.Line] in
            [
                .note(RecordedNote(.ping, direction: .incoming), at: 1_000 * second),
                .note(RecordedNote(.pong, direction: .incoming), at: 1_000 * second + 500),
            ]
        }
        try recording.write(from: 0, [.trade(at: 0, number: 0)] + pings + [.trade(at: 60_000, number: 1)])
        for (longest, expected) in [(2_000_000_000 as Int64?, ["0 0", "2000 1"]), (nil, nil)] {
            let loop = EmbeddedEventLoop()
            var settings = ReplaySettings()
            settings.machine.longestSilence = longest
            let file = try RecordingFile(path: recording.names.path(1))
            let player = try ReplayPlayer(.recording(file), settings: settings, loop: loop, wallClock: { 0 })
            let output = Output(loop)
            player.attach(output)
            player.start()
            loop.advanceTime(by: .seconds(61))
            if let expected {
                #expect(output.log == expected)
            } else {
                #expect(output.log.count == 120 && output.log.last == "60000 1")
            }
        }
    }
}
