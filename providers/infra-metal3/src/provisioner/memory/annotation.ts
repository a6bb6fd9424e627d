/** On a BareMetalHost whose management controller is simulated: what is wrong with it, comma separated. */
export const BMC_FAULTS_ANNOTATION = "memory.capstan.dev/faults";
