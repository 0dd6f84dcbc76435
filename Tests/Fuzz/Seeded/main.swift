import FuzzTargets
import Glibc

// Runs the seeded generator at full speed, for `scripts/fuzz`. The same seed makes the same inputs on every machine.
//
//   Fuzz run TARGET SEED COUNT      checks the rules on COUNT inputs; prints the memory at a tenth and at the end
//   Fuzz files TARGET FOLDER        checks the rules on the files of a folder
//   Fuzz oracle SEED COUNT          prints COUNT frames and their parsed contents, for Tests/Fuzz/oracle.py
//   Fuzz corpus FOLDER...           prints the same for the files of folders
//   Fuzz seeds TARGET FOLDER        writes the seeds as files

/// Returns the resident memory in KiB (proc(5), statm).
func residentKiB() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, 128, file) != nil else { return 0 }
    let fields = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).split(
        separator: " "
    )
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) / 1_024 : 0
}

/// Returns the names of a folder's files.
func files(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if !name.hasPrefix(".") { names.append("\(folder)/\(name)") }
    }
    return names.sorted()
}

func contents(of path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
    return bytes
}

func usage() -> Never {
    print(
        "usage: Fuzz run TARGET SEED COUNT | files TARGET FOLDER | oracle SEED COUNT | corpus FOLDER... "
            + "| seeds TARGET FOLDER\n",
        terminator: ""
    )
    exit(64)
}

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "run" where arguments.count == 4:
    guard let target = FuzzTarget(rawValue: arguments[1]), let seed = UInt64(arguments[2]),
        let count = Int(arguments[3])
    else { usage() }
    var inputs = target.inputs(seed: seed)
    var early = 0
    var late = Int.max
    var good = 0
    for number in 1...max(count, 1) {
        let input = inputs.next()
        do throws(FuzzFinding) {
            if try target.check(input) { good += 1 }
        } catch {
            print("\(target.rawValue): input \(number) of seed \(seed): \(error)\n\(input)")
            exit(1)
        }
        // The memory after the first tenth is the baseline for the others.
        if number == max(count / 10, 1) { early = residentKiB() }
        // The least of several measurements: one input may need megabytes for a moment, and a leak is in all of them.
        if number == count || (number > count / 10 * 9 && number % max(count / 100, 1) == 0) {
            late = min(late, residentKiB())
        }
    }
    print(
        "\(target.rawValue): \(count) inputs of seed \(seed), of which \(good) got through, "
            + "memory \(early) KiB after a tenth, \(late) KiB in the last tenth"
    )
    // Of 100,000 inputs, 90,000 follow the first tenth, so the limit is below 50 bytes per input.
    if late > early + (4 << 10) {
        print("\(target.rawValue): the memory grows")
        exit(1)
    }
case "files" where arguments.count == 3:
    guard let target = FuzzTarget(rawValue: arguments[1]) else { usage() }
    let paths = files(in: arguments[2])
    var good = 0
    for path in paths {
        do throws(FuzzFinding) {
            if try target.check(contents(of: path)) { good += 1 }
        } catch {
            print("\(path): \(error)")
            exit(1)
        }
    }
    print("\(target.rawValue): \(paths.count) files, of which \(good) got through")
    if good == 0 { exit(1) }
case "oracle" where arguments.count == 3:
    guard let seed = UInt64(arguments[1]), let count = Int(arguments[2]) else { usage() }
    var inputs = FuzzTarget.finnhub.inputs(seed: seed)
    for _ in 0..<count { print(OracleLine(inputs.next())) }
case "corpus" where arguments.count >= 2:
    for folder in arguments.dropFirst() { for path in files(in: folder) { print(OracleLine(contents(of: path))) } }
case "seeds" where arguments.count == 3:
    guard let target = FuzzTarget(rawValue: arguments[1]) else { usage() }
    for (index, seed) in target.seeds.enumerated() {
        guard let file = fopen("\(arguments[2])/seed-\(index)", "wb") else { exit(1) }
        fwrite(seed, 1, seed.count, file)
        fclose(file)
    }
default:
    usage()
}
