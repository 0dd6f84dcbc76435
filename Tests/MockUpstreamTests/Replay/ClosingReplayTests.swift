import Logging
import Market
import NIOCore
import NIOEmbedded
import Recordings
import Testing
import TickertapeTesting
import WebSocket
import Wire
@testable import Feeds
@testable import MockUpstream

/// Recorded connections that the service closed with a close frame.
@Suite("A replay of closed connections")
struct ClosingReplayTests {
    private static func disconnect(
        _ direction: ConnectionEvent.Direction?,
        code: UInt16? = nil,
        goodbye: String? = nil,
        cause: String? = nil,
        reason: String = "in our words"
    ) -> RecordedNote {
        var note = RecordedNote(.disconnect, direction: direction)
        note.code = code
        note.frame = goodbye.map { ByteBuffer(string: $0) }
        note.cause = cause
        note.reason = reason
        return note
    }

    private static let connect = RecordedNote(.connect, word: "wss://example")

    /// Plays a recording with one interruption; returns what was played, and the ms in which connections were refused.
    private func play(
        _ ending: RecordedNote,
        _ change: (inout ReplaySettings) -> Void = { $0.hasBreaks = true }
    ) throws -> (log: [String], broken: ClosedRange<Int>?) {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = SegmentedRecording(in: folder)
        let gap = Gap(
            from: ReplayRecording.start + 900_000_000,
            to: ReplayRecording.start + 3_000_000_000,
            reason: "lost",
            nextSequence: 2
        )
        try recording.write(
            from: 0,
            [
                .note(Self.connect, at: 0), .trade(at: 0, number: 0), .trade(at: 900, number: 1),
                .note(ending, at: 1_000), .note(Self.connect, at: 2_500), .gap(gap, at: 3_000),
                .trade(at: 3_000, number: 2), .gap(gap, at: 3_500), .trade(at: 3_600, number: 3),
            ]
        )
        let loop = EmbeddedEventLoop()
        var settings = ReplaySettings()
        change(&settings)
        let file = try RecordingFile(path: recording.names.path(1))
        let player = try ReplayPlayer(.recording(file), settings: settings, loop: loop, wallClock: { 0 })
        let output = PlayedLog(loop)
        player.attach(output)
        player.start()
        var broken: [Int] = []
        for millisecond in 0..<3_400 {
            if player.isBroken { broken.append(millisecond) }
            loop.advanceTime(by: .milliseconds(1))
        }
        loop.advanceTime(by: .seconds(1))
        #expect(output.isEnded)
        return (output.log, broken.isEmpty ? nil : broken[0]...broken[broken.count - 1])
    }

    @Test("the close frame comes at its time with its code and reason, and connections are accepted as recorded")
    func closed() throws {
        let played = try self.play(Self.disconnect(.incoming, code: 1008, goodbye: "API limit"))
        #expect(played.log.prefix(3) == ["0 0", "900 1", "1000 closed 1008 API limit"])
        #expect(played.broken == 1_000...2_499)
        // Its gap causes no second break; the next gap does.
        #expect(
            played.log == ["0 0", "900 1", "1000 closed 1008 API limit", "3000 2", "3000 broke", "3600 3"]
        )
    }

    @Test("a missing code, or one that must not be sent, is 1000", arguments: [nil, 1005, 1006, 999, 2_000])
    func codes(code: UInt16?) throws {
        #expect(try self.play(Self.disconnect(.incoming, code: code)).log.contains("1000 closed 1000 "))
    }

    @Test("a connection that broke, or was closed by our side, is cut where the gap begins")
    func lost() throws {
        for note in [
            Self.disconnect(nil), Self.disconnect(nil, cause: "lost"), Self.disconnect(.outgoing, code: 1000),
            // The service's answer to our close frame, as when a user requests a new connection.
            Self.disconnect(nil, code: 1000, cause: "closed", reason: "a new connection was asked for"),
            Self.disconnect(nil, code: 1002, cause: "protocol-violation"),
        ] {
            let played = try self.play(note)
            #expect(played.log.prefix(3) == ["0 0", "900 1", "900 broke"])
            #expect(played.broken == 900...2_999)
        }
    }

    @Test("a break that does not end in what is played ends with it, where that is played again, and at full speed too")
    func goesOn() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = SegmentedRecording(in: folder)
        let closed = Self.disconnect(.incoming, code: 1008, goodbye: "API limit")
        try recording.write(
            from: 0,
            [
                .note(Self.connect, at: 0), .trade(at: 0, number: 0), .trade(at: 900, number: 1),
                .note(closed, at: 1_000), .note(Self.connect, at: 2_500), .trade(at: 3_000, number: 2),
            ]
        )
        for speed in [1.0, nil] {
            let loop = EmbeddedEventLoop()
            var settings = ReplaySettings()
            settings.hasBreaks = true
            settings.repeats = true
            settings.to = .offset(2_000_000_000)
            settings.machine.speed = speed
            let file = try RecordingFile(path: recording.names.path(1))
            let player = try ReplayPlayer(.recording(file), settings: settings, loop: loop, wallClock: { 0 })
            // The client is gone with the first close frame.
            let output = PlayedLog(loop)
            output.whenClosed = { [unowned output] in player.detach(output) }
            player.attach(output)
            player.start()
            loop.advanceTime(by: .milliseconds(1_500))
            let played = output.log.compactMap { $0.split(separator: " ", maxSplits: 1).last }
            #expect(played == ["0", "1", "closed 1008 API limit"] && !player.isBroken)
            player.stop()
        }
    }

    @Test("without breaks none of these events are played")
    func none() throws {
        let played = try self.play(Self.disconnect(.incoming, code: 1008)) { _ in }
        #expect(played.log == ["0 0", "900 1", "3000 2", "3600 3"] && played.broken == nil)
    }

    @Test("the end of a mock server's recording is not the end of a connection")
    func endOfRecording() throws {
        let note = Self.disconnect(.incoming, code: 1000, goodbye: ReplayEnd.closeReason)
        #expect(RecordedClosing(note, at: 0) == nil)
    }
}
