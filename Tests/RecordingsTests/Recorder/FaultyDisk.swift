import Glibc
import Market
import NIOConcurrencyHelpers
import Recordings
import Testing
import Wire

/// A disk in memory that can become full, stall, lose unsynced bytes, and fail to create files.
final class FaultyDisk: RecordingDisk {
    struct File: Equatable {
        var content: [UInt8] = []
        /// How much of the content would survive a power cut, bytes.
        var synced = 0
        var isClosed = false
    }

    struct State {
        var files: [String: File] = [:]
        /// The disk's size, bytes.
        var capacity = Int.max
        var makesFiles = true
        var truncates = true
        /// Called before each write and before each sync, outside the lock.
        var beforeWrite: @Sendable () -> Void = {}
        var beforeSync: @Sendable () -> Void = {}
        var syncs = true

        var used: Int { self.files.values.reduce(0) { $0 + $1.content.count } }
    }

    let state = NIOLockedValueBox(State())

    func content(_ path: String) -> [UInt8] { self.state.withLockedValue { $0.files[path]?.content ?? [] } }

    /// Returns the files as a power cut would leave them now.
    func survivors() -> [String: [UInt8]] {
        self.state.withLockedValue { $0.files.mapValues { Array($0.content.prefix($0.synced)) } }
    }

    /// Returns the files as a power cut may leave them now: with any part of the unsynced bytes, and with pages of
    /// zeros where only the length was kept.
    func survivors(_ chance: inout SeededGenerator) -> [String: [UInt8]] {
        let page = 512
        return self.state.withLockedValue { state in
            state.files.mapValues { file in
                let length = Int.random(in: file.synced...file.content.count, using: &chance)
                var content = Array(file.content.prefix(length))
                for start in stride(from: (file.synced + page - 1) / page * page, to: length, by: page)
                where chance.next() % 4 == 0 {
                    for place in start..<min(start + page, length) { content[place] = 0 }
                }
                return content
            }
        }
    }

    func create(_ path: String) throws(DiskFailure) -> any RecordingOutput {
        let failure = self.state.withLockedValue { state -> DiskFailure? in
            guard state.makesFiles else { return DiskFailure(ENOSPC) }
            guard state.files[path] == nil else { return .taken }
            state.files[path] = File()
            return nil
        }
        if let failure { throw failure }
        return Output(disk: self, path: path)
    }

    func remove(_ path: String) { self.state.withLockedValue { _ = $0.files.removeValue(forKey: path) } }

    private final class Output: RecordingOutput {
        private let disk: FaultyDisk
        private let path: String

        init(disk: FaultyDisk, path: String) {
            self.disk = disk
            self.path = path
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws(DiskFailure) {
            self.disk.state.withLockedValue { $0.beforeWrite }()
            let isWhole = self.disk.state.withLockedValue { state in
                let room = max(0, state.capacity - state.used)
                state.files[self.path]?.content.append(contentsOf: bytes.prefix(room))
                return bytes.count <= room
            }
            if !isWhole { throw DiskFailure(ENOSPC) }
        }

        func truncate(to length: UInt64) -> Bool {
            self.disk.state.withLockedValue { state in
                guard state.truncates else { return false }
                state.files[self.path]?.content.removeSubrange(Int(length)...)
                return true
            }
        }

        func sync() throws(DiskFailure) {
            self.disk.state.withLockedValue { $0.beforeSync }()
            guard self.disk.state.withLockedValue({ $0.syncs }) else { throw DiskFailure(EIO) }
            self.disk.state.withLockedValue { state in
                let written = state.files[self.path]?.content.count ?? 0
                state.files[self.path]?.synced = written
            }
        }

        func close() { self.disk.state.withLockedValue { $0.files[self.path]?.isClosed = true } }
    }
}

extension Recorder {
    /// Creates a recorder of `a.jsonl` that writes to this disk.
    ///
    /// - Parameter complain: receives the recorder's warnings; without it, a warning fails the test.
    convenience init(
        on disk: FaultyDisk,
        epoch: UInt64,
        _ change: (inout RecorderSettings) -> Void = { _ in },
        printError: @escaping @Sendable (String) -> Void = { Issue.record("\($0)") }
    ) throws {
        var settings = RecorderSettings()
        settings.compresses = false
        change(&settings)
        try self.init(
            path: "a.jsonl",
            symbols: [],
            started: 0,
            program: "test",
            epoch: epoch,
            dialect: .finnhub,
            settings: settings,
            clock: RecorderClock(wall: { 5_000_000 }, monotonic: { 0 }),
            disk: disk,
            printError: printError
        )
    }
}
