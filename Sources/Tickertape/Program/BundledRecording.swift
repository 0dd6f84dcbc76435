import Glibc

/// The recording that comes with the program, which plays when no key is set.
enum BundledRecording {
    /// The path of the recording; `nil` if it is in none of the places.
    static var path: String? {
        Self.places(programFolder: Self.programFolder, environment: .current).first { access($0, R_OK) == 0 }
    }

    /// Returns where the recording may be: the place that belongs to this very program first.
    ///
    /// - Parameter programFolder: the folder of the program's file itself, to which symbolic links lead.
    static func places(programFolder: String?, environment: ProcessEnvironment) -> [String] {
        var places: [String] = []
        if let folder = programFolder {
            // An installation, or an unpacked archive: PREFIX/share, beside PREFIX/bin.
            places.append("\(folder)/../share/tickertape/demo.jsonl")
            // A program that was taken out of the archive's bin.
            places.append("\(folder)/share/tickertape/demo.jsonl")
            // The sources: the program is .build/TRIPLE/CONFIGURATION/tickertape.
            places.append("\(folder)/../../../Sources/Tickertape/Resources/demo.jsonl")
        }
        // A program that was copied elsewhere.
        return places + environment.dataFolders.map { "\($0)/tickertape/demo.jsonl" }
    }

    private static var programFolder: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink("/proc/self/exe", &buffer, Int(PATH_MAX))
        guard count > 0 else { return nil }
        let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
    }
}
