import Glibc
import Platform
import ServiceLifecycle

/// The watch of the config file and of the files that it names, for `reload.watch`. It looks at them four times a second,
/// so it also sees a file that a new one has replaced.
struct ReloadWatch {
    private static let interval = Duration.milliseconds(250)
    /// How long the files must stay as they are before they are loaded, since an editor writes in steps.
    private static let quiet = Duration.seconds(1)

    /// What changes when a file is written or replaced; `nil` for a file that is not there.
    private struct Stamp: Equatable {
        var device: UInt
        var inode: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.device = UInt(status.st_dev)
            self.inode = UInt(status.st_ino)
            self.size = Int(status.st_size)
            self.seconds = status.st_mtim.tv_sec
            self.nanoseconds = status.st_mtim.tv_nsec
        }
    }

    private let reload: ProgramReload
    private let reloadable: ReloadableSettings
    private let disk = WorkQueue("reload-watch")

    /// - Returns: `nil` unless the settings ask for it.
    init?(_ reload: ProgramReload, _ reloadable: ReloadableSettings?) {
        guard let reloadable, reloadable.settings.watchesFiles else { return nil }
        self.reload = reload
        self.reloadable = reloadable
    }

    /// The service that loads the files again.
    var part: NamedService {
        NamedService("reload-watch") { try? await cancelWhenGracefulShutdown { try await self.run() } }
    }

    private func run() async throws {
        var loaded = await self.stamps()
        var seen = loaded
        var seenAt = ContinuousClock.now
        while true {
            try await Task.sleep(for: Self.interval)
            // A disk that does not answer shows no change.
            guard let stamps = await self.stamps() else { continue }
            if stamps != seen {
                seen = stamps
                seenAt = .now
            } else if seen != loaded, ContinuousClock.now - seenAt >= Self.quiet {
                // Other files may be named now, which are not changes.
                await self.reload.reload("reload.watch")
                seen = await self.stamps()
                loaded = seen
                seenAt = .now
            }
        }
    }

    /// Returns the stamps of all files; `nil` if the disk does not answer.
    private func stamps() async -> [Stamp?]? {
        let settings = self.reloadable.running.settings
        let files = settings.relayFiles
        let paths = [self.reloadable.file, files.token, files.certificate, files.key].compactMap(\.self)
        return await self.disk.answer(within: .seconds(2)) { paths.map { Stamp($0) } }
    }
}
