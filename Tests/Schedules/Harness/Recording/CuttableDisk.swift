import Glibc
import Recordings
import Synchronization

/// A recorder's files on this machine's disk, the end of which can be cut off: what a killed process has not written.
final class CuttableDisk: RecordingDisk {
    private struct Written {
        var path: String
        var bytes: UInt64 = 0
    }

    private final class File: RecordingOutput {
        private let disk: CuttableDisk
        private let place: Int
        private let file: any RecordingOutput

        init(_ disk: CuttableDisk, _ place: Int, _ file: any RecordingOutput) {
            (self.disk, self.place, self.file) = (disk, place, file)
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws(DiskFailure) {
            try self.file.write(bytes)
            self.disk.files.withLock { $0[self.place].bytes += UInt64(bytes.count) }
        }
        func truncate(to length: UInt64) -> Bool { self.file.truncate(to: length) }
        /// Does nothing: the machine keeps its power.
        func sync() throws(DiskFailure) {}
        func close() { self.file.close() }
    }

    private let files = Mutex<[Written]>([])

    /// The files, in the order of their making.
    var paths: [String] { self.files.withLock { $0.map(\.path) } }
    /// The bytes of all files.
    var bytes: UInt64 { self.files.withLock { $0.reduce(0) { $0 + $1.bytes } } }

    func create(_ path: String) throws(DiskFailure) -> any RecordingOutput {
        let file = try SystemDisk().create(path)
        let place = self.files.withLock { files in
            files.append(Written(path: path))
            return files.count - 1
        }
        return File(self, place, file)
    }

    func remove(_ path: String) { SystemDisk().remove(path) }

    /// Keeps this many bytes of all files, and removes the files behind them.
    func cut(to length: UInt64) {
        self.files.withLock { files in
            var rest = length
            var kept: [Written] = []
            for file in files {
                // A file is made with its first bytes.
                guard rest > 0 else {
                    unlink(file.path)
                    continue
                }
                let bytes = min(rest, file.bytes)
                rest -= bytes
                Glibc.truncate(file.path, off_t(bytes))
                kept.append(Written(path: file.path, bytes: bytes))
            }
            files = kept
        }
    }
}
