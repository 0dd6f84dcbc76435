import Market
import NIOCore
import NIOEmbedded
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import Feeds
@testable import MockUpstream

@Suite("Skipped silences")
struct SkippedSilenceTests {
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
            let output = PlayedLog(loop)
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
