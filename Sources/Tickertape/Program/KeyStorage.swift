import Feeds
import Platform

/// The lock and the stored attempts of a live feed's key, if the settings and the system have folders for them.
struct KeyStorage {
    let lock: KeyLock?
    let attemptStore: AttemptFile?
    private let warnings: Warnings
    /// The queues for blocking file operations: the lock is mostly on a file system in memory, the attempts are on a
    /// disk.
    let lockDisk = WorkQueue("key-lock")
    private let attemptsDisk = WorkQueue("attempts")

    init(
        _ settings: Settings.State,
        feed: FinnhubSettings,
        environment: ProcessEnvironment = .current,
        warnings: Warnings
    ) {
        let identity = KeyIdentity(key: feed.key, upstream: feed.upstream)
        self.warnings = warnings
        let folder = settings.directory.path(orAuto: environment.stateFolder)
        if folder == nil, settings.directory == .auto {
            warnings.warn("attempts are not remembered over a restart: there is no HOME (state.directory)")
        }
        self.attemptStore = folder.flatMap { AttemptFile(directory: $0, identity: identity, warn: warnings.warn) }
        let folders: [String] =
            switch settings.runtimeDirectory {
            case .off: []
            case .path(let path): [path]
            case .auto: environment.runtimeFolders
            }
        self.lock = folders.isEmpty ? nil : KeyLock(folders: folders, identity: identity, warn: warnings.warn)
        // Reads the attempts before the screen starts, so that a damaged file is reported on standard error.
        _ = self.attemptStore?.load()
    }

    var holding: KeyHolding {
        KeyHolding(
            ownership: self.lock,
            attemptStore: self.attemptStore,
            lockDisk: self.lockDisk,
            attemptsDisk: self.attemptsDisk,
            warn: self.warnings.warn
        )
    }

    /// Writes into the lock's file that this program has no relay.
    func announceNoRelay() {
        let lock = self.lock
        self.lockDisk.submit { lock?.announce(.off) }
    }
}
