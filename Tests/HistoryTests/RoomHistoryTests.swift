import GRDB
import NIOConcurrencyHelpers
import Testing
import TickertapeTesting
import Wire
@testable import History

@Suite("The messages of rooms in the history", .timeLimit(.minutes(2 * Patience.factor)))
struct RoomHistoryTests {
    private func recorder(_ path: String) throws -> HistoryRecorder {
        var limits = HistoryRecorder.Limits()
        limits.pause = 0.01
        limits.waitingMessages = 1_000
        return try HistoryRecorder(
            path: path,
            limits: limits,
            recording: { nil },
            wallClock: { HistorySample.start },
            notify: { _ in }
        )
    }

    private func folder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        return try await body("\(folder.path)/h.sqlite")
    }

    private func message(_ id: UInt64, _ room: String = "lobby", text: String = "hi") -> RoomMessage {
        RoomMessage(
            room: room,
            id: id,
            time: HistorySample.start + Int64(id),
            user: "ann",
            userID: 1 << 40,
            text: text
        )
    }

    @Test("the newest 200 of a room come back as they were, the room that was written last at the end")
    func newest() async throws {
        try await self.folder { path in
            let recorder = try self.recorder(path)
            for id in 1...150 { recorder.take(self.message(UInt64(id))) }
            recorder.take(self.message(100_000, "A:B", text: "ü \"'\u{FFFD} 🙂"))
            recorder.waitUntilWritten()
            for id in 151...300 { recorder.take(self.message(UInt64(id))) }
            #expect(await recorder.finish().lostMessages == 0)
            let read = try HistoryStore(path: path).roomMessages()
            let expected =
                [self.message(100_000, "A:B", text: "ü \"'\u{FFFD} 🙂")] + (101...300).map { self.message(UInt64($0)) }
            #expect(read.unreadable == 0 && read.messages == expected)
        }
    }

    @Test("a message with a known number replaces the one before")
    func replaces() async throws {
        try await self.folder { path in
            let recorder = try self.recorder(path)
            for text in ["one", "two"] { recorder.take(self.message(7, text: text)) }
            _ = await recorder.finish()
            #expect(try HistoryStore(path: path).roomMessages().messages.map(\.text) == ["two"])
        }
    }

    @Test("a room that begins again at a lower number has lost the messages from that number on")
    func beginsAgain() async throws {
        try await self.folder { path in
            let recorder = try self.recorder(path)
            for id in 1...300 { recorder.take(self.message(UInt64(id), text: "old")) }
            recorder.take(self.message(9, "A:B"))
            recorder.waitUntilWritten()
            for id in 1...3 { recorder.take(self.message(UInt64(id), text: "new")) }
            recorder.waitUntilWritten()
            let store = try HistoryStore(path: path)
            let lobby = (1...3).map { self.message(UInt64($0), text: "new") }
            #expect(try store.roomMessages().messages.sorted { $0.time < $1.time } == lobby + [self.message(9, "A:B")])
            // In the same transaction.
            for id in [4, 5, 1, 2] as [UInt64] { recorder.take(self.message(id, text: "newer")) }
            _ = await recorder.finish()
            let texts = try HistoryStore(path: path).roomMessages().messages.filter { $0.room == "lobby" }
            #expect(texts == [1, 2].map { self.message($0, text: "newer") })
        }
    }

    @Test("a room is the same however its name is composed")
    func composition() async throws {
        try await self.folder { path in
            let recorder = try self.recorder(path)
            for id in 1...3 { recorder.take(self.message(UInt64(id), "caf\u{E9}")) }
            recorder.waitUntilWritten()
            recorder.take(self.message(1, "cafe\u{301}", text: "new"))
            _ = await recorder.finish()
            let messages = try HistoryStore(path: path).roomMessages().messages
            #expect(messages == [self.message(1, "caf\u{E9}", text: "new")])
        }
    }

    @Test("a program that takes over waits for the last messages of the one before")
    func takeover() async throws {
        try await self.folder { path in
            var limits = HistoryRecorder.Limits()
            // The thread writes at the end only.
            limits.pause = 3_600
            let first = try HistoryRecorder(
                path: path,
                limits: limits,
                recording: { nil },
                wallClock: { HistorySample.start },
                notify: { _ in }
            )
            let second = try self.recorder(path)
            #expect(await first.claim(within: .zero) == .mine)
            first.take(self.message(1))
            #expect(await second.claim(within: .milliseconds(1)) == .others)
            let cancelled = Task { await second.claim(within: .seconds(60)) }
            cancelled.cancel()
            #expect(await cancelled.value == .cancelled)
            async let claim = second.claim(within: .seconds(60))
            _ = await first.finish()
            #expect(await claim == .mine)
            #expect(try await second.ask { try $0.roomMessages() }.messages == [self.message(1)])
            _ = await second.finish()
        }
    }

    @Test("a disk that does not answer delays neither the claim nor a question longer than their limits")
    func hangingDisk() async throws {
        try await self.folder { path in
            let recorder = try self.recorder(path)
            let goesOn = ConditionLock(value: false)
            let (begun, begins) = AsyncStream.makeStream(of: Void.self)
            // A question for each of the threads.
            let blocked = (0..<2).map { _ in
                Task {
                    try await recorder.ask { _ in
                        begins.yield()
                        goesOn.lock(whenValue: true)
                        goesOn.unlock()
                    }
                }
            }
            var beginnings = begun.makeAsyncIterator()
            for _ in blocked { await beginnings.next() }
            #expect(await recorder.claim(within: .milliseconds(1)) == .unanswered)
            await #expect(throws: HistoryFailure.self) {
                try await recorder.ask(within: .milliseconds(1)) { try $0.roomMessages() }
            }
            goesOn.lock()
            goesOn.unlock(withValue: true)
            for task in blocked { try await task.value }
            #expect(try await recorder.ask(within: .seconds(60)) { try $0.roomMessages() }.messages == [])
            _ = await recorder.finish()
        }
    }

    @Test("exactly the rooms that were given up are removed, also if they are used again, and whatever the times")
    func givenUp() async throws {
        try await self.folder { path in
            let recorder = try self.recorder(path)
            for id in [900, 800, 700, 600] as [UInt64] { recorder.take(self.message(id, "r\(id)")) }
            recorder.waitUntilWritten()
            for room in ["r900", "unknown"] { recorder.take(.givenUp(room)) }
            recorder.take(self.message(2, "r700"))
            recorder.waitUntilWritten()
            // In one transaction.
            recorder.take(.givenUp("r600"))
            recorder.take(self.message(1, "r600", text: "new"))
            recorder.take(self.message(1, "new"))
            recorder.take(.givenUp("new"))
            _ = await recorder.finish()
            let store = try HistoryStore(path: path)
            // The one that was written last comes last, though the clock went back.
            let expected = [self.message(800, "r800"), self.message(2, "r700"), self.message(1, "r600", text: "new")]
            #expect(try store.roomMessages().messages == expected)
            #expect(try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM room") } == 3)
        }
    }

    @Test("a spoilt order of the rooms in the file does not keep messages from being written")
    func spoiltOrder() async throws {
        try await self.folder { path in
            let recorder = try self.recorder(path)
            recorder.take(self.message(1))
            recorder.waitUntilWritten()
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: "UPDATE room SET newest = \(Int64.max)") }
            try other.close()
            recorder.take(self.message(1, "A:B"))
            _ = await recorder.finish()
            #expect(try HistoryStore(path: path).roomMessages().messages.count == 2)
        }
    }

    @Test("of a file with more rooms the 256 that were written last are read, and none is removed")
    func rooms() async throws {
        try await self.folder { path in
            let recorder = try self.recorder(path)
            // The clock goes back.
            for id in (1...300).reversed() { recorder.take(self.message(UInt64(id), "r\(id)")) }
            _ = await recorder.finish()
            let store = try HistoryStore(path: path)
            #expect(try store.roomMessages().messages.map(\.room) == (1...256).reversed().map { "r\($0)" })
            let count = try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM roomMessage") }
            #expect(count == 300)
        }
    }

    @Test("messages wait while another program writes the history")
    func lock() async throws {
        try await self.folder { path in
            let (first, second) = (try self.recorder(path), try self.recorder(path))
            second.take(self.message(2))
            second.waitUntilWritten()
            #expect(try HistoryStore(path: path).roomMessages().messages == [])
            first.take(self.message(1))
            _ = await first.finish()
            second.waitUntilWritten()
            _ = await second.finish()
            #expect(try HistoryStore(path: path).roomMessages().messages.map(\.id) == [1, 2])
        }
    }

    @Test("messages that find no space are counted")
    func overflow() async throws {
        try await self.folder { path in
            var limits = HistoryRecorder.Limits()
            // The thread takes nothing before the end.
            limits.pause = 3_600
            limits.waitingMessages = 10
            let recorder = try HistoryRecorder(
                path: path,
                limits: limits,
                recording: { nil },
                wallClock: { HistorySample.start },
                notify: { _ in }
            )
            for id in 1...15 { recorder.take(self.message(UInt64(id))) }
            #expect(recorder.report.lostMessages == 5)
            #expect(await recorder.finish().lostMessages == 5)
            #expect(try HistoryStore(path: path).roomMessages().messages.map(\.id) == Array(1...10))
        }
    }
}

extension HistoryRecorder {
    fileprivate func take(_ message: RoomMessage) { self.take(.message(message)) }
}
