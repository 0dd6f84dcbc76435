import FuzzTargets
import Glibc

/// The target that `FUZZ_TARGET` names.
private let target: FuzzTarget = {
    guard let name = getenv("FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
        fatalError("set FUZZ_TARGET to one of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    return target
}()

/// The function that libFuzzer calls with each input (https://llvm.org/docs/LibFuzzer.html). Its library also has the
/// `main` of this program.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do throws(FuzzFinding) {
        try target.check(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        // The fuzzer stores the input of a crash.
        fatalError("\(target.rawValue): \(error)")
    }
    return 0
}
