import Feeds
import Glibc

/// The disk to which a program records.
enum RecordingDisk: Equatable {
    /// The folder of the recordings, and the free space in bytes.
    case free(folder: String, bytes: UInt64)
    /// Why the space is not known.
    case unknown(String)

    /// Measures the disk of a folder.
    init(folder: String) {
        var facts = statvfs()
        guard statvfs(folder, &facts) == 0 else {
            self = .unknown("\(folder): \(String(cString: strerror(errno)))")
            return
        }
        self = .free(folder: folder, bytes: UInt64(facts.f_bavail) * UInt64(facts.f_frsize))
    }

    /// Measures the disk of a running program, whose relay says where it records.
    init(of relay: RunningRelay) async {
        guard relay.isHere else {
            self = .unknown("it is another machine's")
            return
        }
        switch await relay.settings() {
        case .failure(let failure) where failure.status == 403:
            self = .unknown("other machines can reach the relay, so it does not say where it records")
        case .failure(let failure): self = .unknown("\(failure)")
        case .success(let settings):
            let path = { (setting: Setting) in settings.first { $0.key == setting.key }?.path }
            let folder = path(.recordFile).map { FilePath.folder(of: $0) } ?? path(.recordDirectory)
            self =
                folder.map { RecordingDisk(folder: $0) }
                ?? .unknown("the running program does not say where it records")
        }
    }
}
