import Glibc
import Market
import NIOConcurrencyHelpers
import TickertapeTesting
import Testing

@testable import Tickertape

@Suite("What alerts keep over a restart")
struct AlertFileTests {
    private final class Warnings: Sendable {
        private let texts = NIOLockedValueBox<[String]>([])
        var all: [String] { self.texts.withLockedValue { $0 } }
        func add(_ text: String) { self.texts.withLockedValue { $0.append(text) } }
    }

    private let memory = AlertMemory(
        rules: ["X above 100"],
        states: [.init(rule: "X above 100", symbol: "A:X", isArmed: false, side: 0, count: 2, lastFired: 77)]
    )

    @Test("it is a file of this user's alone, and comes back as it was")
    func keeps() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let warnings = Warnings()
        let first = try #require(AlertFile(directory: folder.path) { warnings.add($0) })
        #expect(first.load() == nil)
        for _ in 0..<100 { first.keep(AlertMemory()) }
        first.keep(self.memory)
        await first.settle(atMost: .seconds(20))
        #expect(first.load() == self.memory)
        var facts = stat()
        #expect(stat("\(folder.path)/alerts", &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        #expect(warnings.all.isEmpty)
    }

    @Test("one program keeps it at a time, and the next one when that is gone")
    func oneAtATime() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let warnings = Warnings()
        var first = AlertFile(directory: folder.path) { warnings.add($0) }
        #expect(first != nil)
        #expect(AlertFile(directory: folder.path) { warnings.add($0) } == nil)
        #expect(warnings.all == ["alerts are not kept over a restart: another tickertape keeps its own"])
        first = nil
        #expect(AlertFile(directory: folder.path) { warnings.add($0) } != nil)
    }

    @Test("a damaged, foreign, linked or huge file is told of and replaced, and a folder that is none is told of")
    func abuse() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/alerts"
        let texts = [
            "", "tickertape alerts 1\nrule\t", "\0\0\0", String(repeating: "x", count: AlertMemory.mostBytes + 1),
        ]
        for text in texts {
            _ = try folder.write(text, to: "alerts")
            try await self.isReplaced(in: folder)
        }
        unlink(path)
        #expect(symlink("/etc/passwd", path) == 0)
        try await self.isReplaced(in: folder)
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        try await self.isReplaced(in: folder)

        let warnings = Warnings()
        #expect(AlertFile(directory: "/dev/null/x") { warnings.add($0) } == nil)
        #expect(warnings.all.first?.hasSuffix("(state.directory)") == true)
    }

    private func isReplaced(in folder: TemporaryFolder) async throws {
        let warnings = Warnings()
        let file = try #require(AlertFile(directory: folder.path) { warnings.add($0) })
        #expect(file.load() == nil)
        #expect(warnings.all.count == 1 && warnings.all[0].contains("/alerts cannot be used and is replaced: "))
        file.keep(self.memory)
        await file.settle(atMost: .seconds(20))
        #expect(file.load() == self.memory)
        #expect(warnings.all.count == 1)
    }
}
