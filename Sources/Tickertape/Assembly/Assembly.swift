/// Where rooms become a program: one function a command, each in a file of its own.
package enum Assembly {}

extension OperatorError {
    /// What a command says whose body does not exist yet.
    static func notAssembled(_ command: String) -> OperatorError {
        OperatorError("\(command): not assembled yet; this version has only its settings", status: .failure)
    }
}
