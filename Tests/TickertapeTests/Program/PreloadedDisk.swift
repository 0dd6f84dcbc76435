import Foundation
import Testing
import TickertapeTesting

/// The disk of a started program, whose operations a preloaded library lets fail or hang while a control file exists.
///
/// `Tests/Clients/faulty_disk.c` names the files.
struct PreloadedDisk {
    private let folder: TemporaryFolder

    /// Compiles the library into a folder, which also gets the control files.
    init(in folder: TemporaryFolder) async throws {
        self.folder = folder
        let compiler = try RunningProgram(
            "/usr/bin/env",
            [
                "clang", "-shared", "-fPIC", "-o", "\(folder.path)/disk.so",
                "\(RunningProgram.sources)/Tests/Clients/faulty_disk.c", "-ldl",
            ],
            // The toolchain's compiler need not be on the path of the programs under test.
            environment: ProcessInfo.processInfo.environment["PATH"].map { ["PATH": $0] } ?? [:]
        )
        try #require(await compiler.ending() == .exit(0), "\(compiler.errors)")
    }

    /// The variables of a program with this disk.
    var environment: [String: String] {
        ["LD_PRELOAD": "\(self.folder.path)/disk.so", "FAULTY_DISK": self.folder.path]
    }

    /// Begins a fault, by the name of its control file.
    func begin(_ fault: String) throws { _ = try self.folder.write("", to: fault) }

    func end(_ fault: String) throws { try FileManager.default.removeItem(atPath: "\(self.folder.path)/\(fault)") }

    /// Waits until `hang-NAME` hangs a thread of the program; `false` after the time limit.
    func hangs(_ name: String) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(20) * Patience.factor
        while access("\(self.folder.path)/hangs-\(name)", F_OK) != 0 {
            guard .now < end else { return false }
            try await Task.sleep(for: .milliseconds(10))
        }
        return true
    }
}
