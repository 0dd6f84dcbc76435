import Glibc
import Platform

/// The checks of the disks and of the rights of folders and files.
extension Doctor {
    /// The free space below which a disk is worth a warning, and below which nothing can be recorded; bytes.
    private static let littleSpace: UInt64 = 1 << 30
    private static let noSpace: UInt64 = 64 << 20
    /// The time of a synced write above which a disk is worth a warning, ns.
    private static let slowWrite: Int64 = 1_000_000_000

    // MARK: Disk

    /// A folder that the program writes to.
    private struct Folder {
        let path: String
        /// The settings that name it, for people.
        var settings: String
        /// Whether recordings are put there because of a setting or flag; by default it is the working directory, and
        /// nothing is recorded.
        var isForRecordings = false
        /// Whether the attempts of the key and the watchlist are kept there.
        var isForState = false
    }

    private var folders: [Folder] {
        let record = self.settings.record
        let recordings = self.settings.recordingFolder
        var first = Folder(path: recordings, settings: record.file == nil ? Setting.recordDirectory.key : "record")
        first.isForRecordings = record.file != nil || self.settings.origin(of: .recordDirectory) != .builtIn
        guard let state = self.settings.state.directory.path(orAuto: self.environment.stateFolder) else {
            return [first]
        }
        guard state != recordings else {
            first.settings += " and \(Setting.stateDirectory.key)"
            first.isForState = true
            return [first]
        }
        return [first, Folder(path: state, settings: Setting.stateDirectory.key, isForState: true)]
    }

    /// Returns how much space there is, and how fast a write is kept.
    func disks() async -> [DoctorCheck] {
        await withTaskGroup(of: (Int, DoctorCheck).self) { group in
            for (index, folder) in self.folders.enumerated() {
                group.addTask {
                    let queue = WorkQueue("doctor")
                    let check = await self.step {
                        await queue.answer(within: Self.stepLimit) { Self.disk(folder.path, folder.settings) }
                    }
                    let late = DoctorCheck(
                        "disk",
                        .failure,
                        "the disk of \(folder.path) (\(folder.settings)) does not answer",
                        cure: "is it a network disk whose server is gone? Name a folder on another disk"
                    )
                    return (index, (check ?? nil) ?? late)
                }
            }
            var checks: [(Int, DoctorCheck)] = []
            for await check in group { checks.append(check) }
            return checks.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func disk(_ folder: String, _ setting: String) -> DoctorCheck {
        var facts = statvfs()
        guard statvfs(folder, &facts) == 0 else {
            if errno == ENOENT {
                return DoctorCheck("disk", .note, "\(folder) (\(setting)) does not exist yet")
            }
            let words = "\(folder) (\(setting)): \(String(cString: strerror(errno)))"
            return DoctorCheck("disk", .failure, words, cure: "name another folder with \(setting)")
        }
        let free = UInt64(facts.f_bavail) * UInt64(facts.f_frsize)
        let all = max(1, UInt64(facts.f_blocks) * UInt64(facts.f_frsize))
        let space = "\(self.bytes(free)) free (\(free * 100 / all) %) in \(folder) (\(setting))"
        let freeing = "make space, or set record.keep-size"
        if free < self.noSpace { return DoctorCheck("disk", .failure, space, cure: freeing) }
        guard let took = self.syncedWrite(folder) else {
            // The check of the rights says why.
            return DoctorCheck("disk", free < self.littleSpace ? .warning : .note, "\(space); not written to")
        }
        let words = "\(space); a synced write took \(self.words(took))"
        if free < self.littleSpace { return DoctorCheck("disk", .warning, words, cure: freeing) }
        if took > self.slowWrite {
            return DoctorCheck(
                "disk",
                .warning,
                words,
                cure: "is the disk busy? Name a folder on another with \(setting)"
            )
        }
        return DoctorCheck("disk", .ok, words)
    }

    /// Returns how long a write of one block takes until it would survive a power cut, ns; `nil` if it fails.
    private static func syncedWrite(_ folder: String) -> Int64? {
        let path = "\(folder)/.tickertape-doctor-\(getpid())"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Without a name it leaves nothing behind, however this ends.
        unlink(path)
        let begun = SystemClock.monotonic()
        let block = [UInt8](repeating: 0, count: 4_096)
        guard write(descriptor, block, block.count) == block.count, fsync(descriptor) == 0 else { return nil }
        return SystemClock.monotonic() - begun
    }

    /// Formats a size as `12.3 GB`.
    static func bytes(_ bytes: UInt64) -> String {
        let units: [(UInt64, String)] = [
            (1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"),
        ]
        guard let (size, unit) = units.first(where: { bytes >= $0.0 }) else { return "\(bytes) bytes" }
        return "\(bytes / size).\(bytes % size * 10 / size) \(unit)"
    }

    // MARK: Rights

    /// Something that this user may not do, or other users may.
    private struct Fault {
        var state: DoctorCheck.State
        var words: String
        var cure: String?
    }

    /// Returns whether the folders can be written, and whether only this user can read the secrets.
    ///
    /// - Parameter config: the config file.
    func rights(_ config: String?) -> DoctorCheck {
        let faults = self.folders.compactMap(self.fault) + self.faultsOfSecrets(config)
        guard let worst = faults.map(\.state).max() else {
            return DoctorCheck("rights", .ok, "this user can write its folders, and no other user can read its secrets")
        }
        let words = faults.map(\.words).joined(separator: "; ")
        var cures: [String] = []
        for cure in faults.compactMap(\.cure) where !cures.contains(cure) { cures.append(cure) }
        return DoctorCheck("rights", worst, words, cure: cures.isEmpty ? nil : cures.joined(separator: "; "))
    }

    /// Returns what is wrong with a folder: first whether it can be written.
    private func fault(_ folder: Folder) -> Fault? {
        let place = "\(folder.path) (\(folder.settings))"
        let isThere = access(folder.path, F_OK) == 0
        let nearest = isThere ? folder.path : Self.existing(above: folder.path)
        if access(nearest, W_OK | X_OK) != 0 {
            let code = errno
            let words = "\(place)\(isThere ? "" : " cannot be made"): \(String(cString: strerror(code)))"
            guard folder.isForRecordings || folder.isForState else {
                return Fault(state: .note, words: "\(words), so nothing can be recorded there")
            }
            let cure = self.cure(of: folder, isThere: isThere, code)
            return Fault(state: folder.isForRecordings ? .failure : .warning, words: words, cure: cure)
        }
        guard isThere else {
            // The program makes the folder of its state, and no other one.
            guard folder.isForRecordings else { return nil }
            return Fault(state: .failure, words: "\(place) does not exist", cure: "mkdir -p \(folder.path)")
        }
        guard folder.isForState else { return nil }
        do throws(PrivateFolder.Failure) {
            _ = try PrivateFolder(folder.path)
            return nil
        } catch {
            let cure = "make it a folder of this user alone (chown, chmod 700), or name another with state.directory"
            return Fault(state: .warning, words: error.reason, cure: cure)
        }
    }

    /// Returns the nearest folder above a path that exists.
    private static func existing(above path: String) -> String {
        var folder = FilePath.folder(of: path)
        while folder.count > 1, access(folder, F_OK) != 0 { folder = FilePath.folder(of: folder) }
        return folder
    }

    /// - Parameter isThere: whether the folder exists.
    private func cure(of folder: Folder, isThere: Bool, _ code: Int32) -> String {
        let another = "name another folder with \(folder.settings)"
        guard code == EROFS else {
            return "\(isThere ? "chown \(folder.path) to this user" : "make it for this user"), or \(another)"
        }
        return self.environment.variable("INVOCATION_ID") == nil
            ? "mount it writable, or \(another)"
            : "name \(folder.path) in StateDirectory= or ReadWritePaths= of the unit"
    }

    /// Returns the secrets that cannot be read, or that others can read.
    private func faultsOfSecrets(_ config: String?) -> [Fault] {
        let holdsKey = self.settings.token != nil && self.settings.origin(of: "token") == config.map { .file($0) }
        let files: [(path: String?, setting: String)] = [
            (self.settings.tokenFile, "token-file"), (self.settings.relayFiles.key, "relay.key-file"),
            (self.settings.relayFiles.token, "relay.token-file"), (holdsKey ? config : nil, "the config file"),
        ]
        return files.compactMap { path, setting in
            guard let path else { return nil }
            do throws(SmallFile.Failure) {
                return try SmallFile(path: path, limit: 1 << 20)?.hintForReaders.map { hint in
                    Fault(state: .warning, words: "other users can read \(path) (\(setting))", cure: hint)
                }
            } catch {
                let words = "\(path) (\(setting)) \(error.reason)"
                return Fault(state: .failure, words: words, cure: "chown it to this user, mode 600")
            }
        }
    }
}
